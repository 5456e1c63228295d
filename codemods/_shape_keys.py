"""Keys made of the text of a shape, which become tuples of sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import Function
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement

KEYS = ("GBF612", "shape-text-as-key")
SAME = "nothing else reads the keys of the dict"
_ADVICE = "take tuple(x.shape) as the key, wherever the dict is used"


@dataclass(frozen=True)
class Key:
    """`str(tuple(x.shape))`, the part of it that stays, and the name of the dict that it is a key of."""

    node: ast.Call
    kept: ast.expr
    holder: ast.Name
    function: Function


PROBE = "text of open sizes"


def key_findings(view: FileView) -> Iterator[Finding]:
    """The keys of a file that are the text of a shape, when a compiled function uses one: all of them together."""
    if "str(tuple(" not in view.source.text:
        return
    texts = [node for node in view.source.nodes if _shape_in(view, node) is not None]
    compiled = {one.function: one for one in view.compiled}
    reached = [(text, compiled[f]) for text in texts if (f := view.source.enclosing_function(text)) in compiled]
    if not reached or all(one.fullgraph for _, one in reached) or view.project.torch.captures(PROBE):
        return
    first, holder = reached[0]
    try:
        keys = [_key(view, text) for text in texts]
        for key in keys:
            _check_holder(view, key)
    except RefusedError as refused:
        yield _finding(view, holder, first, [refused.obligation], None, refused.advice)
        return
    edits = tuple(Replacement(view.source.span(key.node), view.source.segment(key.kept)) for key in keys)
    reason = f"a caller may look into {keys[0].holder.id}"
    assumed = Obligation(SAME, Discharge.ASSUMED, reason, keys[0].node.lineno)
    yield _finding(view, holder, first, [assumed], Fix("take the sizes themselves as the key", edits), "")


def _finding(
    view: FileView,
    compiled: CompiledFunction,
    node: ast.AST,
    obligations: Sequence[Obligation],
    fix: Fix | None,
    advice: str,
) -> Finding:
    message = f"{view.source.segment(node)} is a text made of sizes"
    about = (*KEYS, view.source.span(node), message, compiled.function.qualname, compiled.reason)
    return Finding(*about, tuple(obligations), fix, advice)


def _shape_in(view: FileView, node: ast.AST) -> ast.expr | None:
    """The `tuple(x.shape)` in `str(tuple(x.shape))`, None for anything else."""
    match node:
        case ast.Call(
            func=ast.Name() as text,
            args=[ast.Call(func=ast.Name() as made, args=[ast.Attribute(attr="shape")], keywords=[]) as kept],
            keywords=[],
        ) if view.names.is_builtin(text, "str") and view.names.is_builtin(made, "tuple"):
            return kept
        case _:
            return None


def _key(view: FileView, text: ast.AST) -> Key:
    """How a text is used as a key. Raises RefusedError for another use."""
    function, kept = view.source.enclosing_function(text), _shape_in(view, text)
    parent = view.source.parents[text]
    holder: ast.expr | None = None
    match parent:
        case ast.Subscript(value=value, slice=index) if index is text:
            holder = value
        case ast.Call(func=ast.Attribute(value=value, attr="get" | "pop" | "setdefault"), args=[first, *_]) if (
            first is text
        ):
            holder = value
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[value]) if left is text:
            holder = value
    if not isinstance(holder, ast.Name) or function is None or kept is None:
        line = getattr(text, "lineno", 0)
        raise RefusedError("the text is only a key of dicts", "it is used in another way", line, _ADVICE)
    assert isinstance(text, ast.Call)
    return Key(text, kept, holder, function)


def _check_holder(view: FileView, key: Key) -> None:
    """The function of a key must do nothing that shows the keys of its dict. Raises RefusedError."""
    for part in ast.walk(key.function.node):
        if isinstance(part, ast.Name) and part.id == key.holder.id and not _hides_keys(view, part):
            raise RefusedError(SAME, f"{part.id} is used in another way", part.lineno, _ADVICE)


def _hides_keys(view: FileView, name: ast.Name) -> bool:
    """True where a dict is made, returned, told from None, looked into, or asked for its values."""
    if not isinstance(name.ctx, ast.Load):
        return True
    parent = view.source.parents[name]
    match parent:
        case ast.Return():
            return True
        case ast.Subscript(value=value, slice=index) if value is name:
            return not isinstance(index, ast.Constant | ast.JoinedStr)
        case ast.Attribute(attr="get" | "pop" | "setdefault" | "values"):
            return True
        case ast.Compare(left=left, ops=[op], comparators=[other]):
            return isinstance(op, ast.Is | ast.IsNot) or (other is name and left is not name)
        case ast.Call(func=ast.Name(id="len")):
            return True
        case _:
            return False
