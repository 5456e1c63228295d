"""A call that Dynamo has no way to put into a graph, with what can be done instead.

NumPy functions that PyTorch does not imitate (`np.interp`, `np.digitize`, `np.polyfit`: GB0294), and breaks that are
there on purpose: `torch._dynamo.graph_break()` and functions under `torch.compiler.disable` (GB0025, GB0098). The
latter may avoid a deadlock or a bug of a backend, so gbfix never removes them; each costs one break where it is called.

    # Before                                 # After
    @torch.compile                           @torch.library.custom_op("my::interp", mutates_args=())
    def f(x):                                def interp(x: torch.Tensor) -> torch.Tensor: ...
        y = np.interp((x + 1).numpy(), ...)
        return torch.from_numpy(y) * 2       @interp.register_fake ...

Reports the place, and changes nothing.

Source: PyTorch's GB0294, GB0025, GB0098.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._host_calls import own_nodes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._stays import report
from gbfix.engine.model import Finding, Rule

NAME = ("GBF329", "untraceable-call")
_NUMPY_NAMES = "interp unwrap polyfit polyval isin setdiff1d intersect1d union1d digitize select piecewise lexsort"
_NUMPY = frozenset(map("numpy.{}".format, _NUMPY_NAMES.split()))
_DISABLING = ("torch.compiler.disable", "torch._dynamo.disable", "torch._disable_dynamo")
_BY_KIND = {
    "numpy": (
        "PyTorch imitates the function",
        "is NumPy's own",
        "write it with torch functions, or register it as an operator: torch.library.custom_op with register_fake",
    ),
    "break": (
        "the break is not on purpose",
        "ends the graph on purpose",
        "leave it when it avoids a problem of the backend; else remove it: it costs one break at each call",
    ),
    "disabled": (
        "the break is not on purpose",
        "is kept out of torch.compile by its own decorator",
        "leave it when the function must run in Python; call it before or after the compiled function, or remove the "
        "decorator: it costs one break at each call",
    ),
}


def find(view: FileView) -> Iterator[Finding]:
    """The calls of one file that no graph can hold."""
    for compiled in view.compiled:
        for node in own_nodes(compiled.function.node):
            kind = _kind(view, node)
            if kind:
                claim, reason, advice = _BY_KIND[kind]
                text = " ".join(view.source.segment(node.func if isinstance(node, ast.Call) else node).split())
                why = RefusedError(claim, f"{text} {reason}", getattr(node, "lineno", 0), advice)
                yield report(view, compiled, NAME, node, f"{text} within a compiled function", why)


def _kind(view: FileView, node: ast.AST) -> str:
    match node:
        case ast.Call(func=func):
            name = view.names.qualified(func) or ""
            if name in _NUMPY:
                return "numpy"
            if name == "torch._dynamo.graph_break":
                return "break"
            return "disabled" if _is_disabled(view, func) else ""
        case _:
            return ""


def _is_disabled(view: FileView, func: ast.expr) -> bool:
    """True for a function under one of the decorators, and for a name that is set to what one of them gave back."""
    found = view.names.bindings(func.id, func) if isinstance(func, ast.Name) else []
    if len(found) == 1:
        decorators = getattr(found[0].node, "decorator_list", [])
        called = [d.func if isinstance(d, ast.Call) else d for d in decorators]
        if any(view.names.qualified(decorator) in _DISABLING for decorator in called):
            return True
    assigned = [b.statement.value for b in found if isinstance(b.statement, ast.Assign)]
    calls = [value for value in assigned if isinstance(value, ast.Call)]
    others = [b for b in found if not isinstance(b.node, ast.FunctionDef) and not isinstance(b.statement, ast.Assign)]
    disabling = [call for call in calls if view.names.qualified(call.func) in _DISABLING]
    return bool(disabling) and len(disabling) == len(assigned) and not others


RULE = Rule(*NAME, "a call that no graph can hold, or a break that is there on purpose", __doc__, find)
