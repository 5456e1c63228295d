"""A module imported by a call within a compiled function: an import statement, which Dynamo follows.

`importlib.import_module("math")` and `__import__("math")` end the graph (GB0007); `import math` does not.

Before:

    module = importlib.import_module("math")

After:

    import math as module

Stays away, with the way out, where the module's name is not a constant or the call is part of an expression.

Source: PyTorch's GB0007 "Attempted to call function marked as skipped".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.codemods._host_calls import own_nodes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._stays import report
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Rule

NAME = ("GBF330", "import-by-call")
_ADVICE = "import the module at the top of the file"


def find(view: FileView) -> Iterator[Finding]:
    """The imports by call of one file."""
    for compiled in view.compiled:
        for node in own_nodes(compiled.function.node):
            if isinstance(node, ast.Call):
                by_function = view.names.qualified(node.func) == "importlib.import_module"
                if by_function or view.names.is_builtin(node.func, "__import__"):
                    yield _finding(view, compiled, node)


def _finding(view: FileView, compiled: CompiledFunction, node: ast.Call) -> Finding:
    message = f"call of {view.source.segment(node.func)} within a compiled function"
    try:
        replacement = _import(view, node)
    except RefusedError as refused:
        return report(view, compiled, NAME, node, message, refused)
    proof = Obligation("the result is the same", Discharge.PROVED, "an import statement gives the module", node.lineno)
    where = (compiled.function.qualname, compiled.reason)
    fix = Fix("write an import statement", (replacement,))
    return Finding(*NAME, view.source.span(node), message, *where, (proof,), fix)


def _import(view: FileView, node: ast.Call) -> Replacement:
    claim = "the module is known"
    name = node.args[0].value if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) else None
    if not isinstance(name, str) or node.keywords or not all(part.isidentifier() for part in name.split(".")):
        raise RefusedError(claim, "its name is not a constant", node.lineno, _ADVICE)
    if "." in name and isinstance(node.func, ast.Name):
        raise RefusedError(claim, "__import__ gives the package, not the module", node.lineno, _ADVICE)
    match view.source.parents[node]:
        case ast.Assign(targets=[ast.Name(id=target)]) as statement:
            alias = "" if target == name else f" as {target}"
            return Replacement(view.source.span(statement), f"import {name}{alias}")
        case _:
            raise RefusedError("it stands alone", "it is part of an expression", node.lineno, _ADVICE)


RULE = Rule(*NAME, "a module imported by a call within a compiled function", __doc__, find)
