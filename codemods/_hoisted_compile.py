"""Moving `torch.compile(f)` out of a function or loop, to the module's own block, where it is run once."""

from __future__ import annotations

import ast
from itertools import count

from gbfix.analysis.project import FileView
from gbfix.codemods._new_names import check_new_name
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._top_level import inserted_above, top_level_statement
from gbfix.codemods._tree import all_names
from gbfix.engine.model import Discharge, Fix, Obligation, Replacement

ADVICE = (
    "compile once, before the loop or where the function or module is made, and call the result; for one of several, "
    "keep the results in a dictionary"
)
SAME = "what is compiled is the same at every call"
_OPTIONS = {"fullgraph": (True, False), "dynamic": (True, False, None), "backend": ("inductor", "eager", "aot_eager")}
"""Options that raise nothing, whenever they are given."""


def hoisted(view: FileView, call: ast.Call) -> tuple[Fix, Obligation]:
    """The edit that compiles above the top-level statement that holds the call. Raises RefusedError.

    Only for a plain function of the module, whose name nothing gives another value: then it is there, and the same, at
    every call.
    """
    given = call.args[0]
    holder = top_level_statement(view.source, call)
    if any(compiled.function is view.source.enclosing_function(call) for compiled in view.compiled):
        raise _refused(call, "it stands in compiled code itself")
    defined = view.names.single_definition(given)
    is_plain = defined is not None and isinstance(defined.node, ast.FunctionDef) and not defined.node.decorator_list
    if defined is None or not isinstance(given, ast.Name) or not is_plain:
        raise _refused(call, f"{_text(view, given)} is not the name of a plain function of the module")
    _check_options(call)
    _check_unchanged(view, given)
    first = _insertion_point(view, call, defined.statement, holder)
    check_new_name(view, holder)
    obligation = Obligation(
        SAME, Discharge.PROVED, f"nothing gives {given.id} another value", view.source.span(defined.node).line
    )
    known = _known(view, call, holder)
    if known is not None:
        return Fix(f"call {known}", (Replacement(view.source.span(call), known),)), obligation
    name = _new_name(view, given.id)
    text = view.source.segment(call)
    if "\n" in text:
        text = ast.unparse(call)
    statement = f"{name} = {text}"
    title = f"compile {given.id} once"
    if first is holder:
        return Fix(title, (inserted_above(view.source, call, name, statement),)), obligation
    insertion = Replacement(view.source.span(first), f"{statement}\n\n\n{view.source.segment(first)}")
    return Fix(title, (insertion, Replacement(view.source.span(call), name))), obligation


def _insertion_point(view: FileView, call: ast.Call, defined: ast.AST, holder: ast.stmt) -> ast.stmt:
    """The statement behind the definition and the import of torch, the same for all calls that compile a function."""
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    imported = view.names.single_definition(root)
    block = view.source.tree.body
    last = 0
    for statement, what in ((defined, _text(view, call.args[0])), (imported and imported.statement, _text(view, root))):
        places = [place for place, one in enumerate(block) if one is statement]
        if not places or places[0] >= block.index(holder):
            raise _refused(call, f"{what} is not defined above, in the module's own block")
        last = max(last, places[0])
    return block[last + 1]


def _check_options(call: ast.Call) -> None:
    for keyword in call.keywords:
        allowed = _OPTIONS.get(keyword.arg or "", ())
        is_plain = isinstance(keyword.value, ast.Constant) and any(
            keyword.value.value is one or (isinstance(one, str) and keyword.value.value == one) for one in allowed
        )
        if not is_plain:
            raise _refused(call, f"{keyword.arg or '**'} may be another one, or an error, when the module is loaded")
    if len(call.args) != 1:
        raise _refused(call, "it is given more than the function")


def _check_unchanged(view: FileView, given: ast.Name) -> None:
    """No other code sets the name in the module, or its defaults and code from outside."""
    for path, source in view.project.files.naming(given.id):
        for node in source.nodes:
            is_set = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
            if is_set and isinstance(node, ast.Attribute) and given.id in (node.attr, getattr(node.value, "id", "")):
                raise RefusedError(SAME, f"{path}:{node.lineno} sets it", given.lineno, ADVICE)


def _known(view: FileView, call: ast.Call, holder: ast.stmt) -> str | None:
    """A name of the module that holds the same compilation, above the statement."""
    block = view.source.tree.body
    for statement in block[: block.index(holder)]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Call() as value):
                same = ast.dump(value) == ast.dump(call)
                found = view.names.bindings(name, call)
                if same and len(found) == 1 and found[0].node is target:
                    return name
    return None


def _new_name(view: FileView, function: str) -> str:
    taken = all_names(view.source.tree)
    word = f"_compiled_{function.lstrip('_')}"
    names = (word if number == 1 else f"{word}_{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def _refused(call: ast.Call, reason: str) -> RefusedError:
    return RefusedError("it is compiled once", reason, call.lineno, ADVICE)


def _text(view: FileView, node: ast.expr) -> str:
    return " ".join(view.source.segment(node).split())
