"""New source for a statement that calls a compiled function: marks of its arguments' sizes stand before it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence

from gbfix.analysis.operators import FACTORIES, LIKE_FACTORIES
from gbfix.analysis.project import FileView
from gbfix.codemods._always import ADVICE
from gbfix.codemods._new_names import check_new_name, names_taken, word_for
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import indentation_of, on_its_own, reindented, unused_name
from gbfix.codemods._varying import EVERY_ITEM
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Replacement

WEAK = "torch._dynamo.maybe_mark_dynamic"
"""The mark that never raises."""
_STATIC = "mark_static"
_MARKS = ("mark_dynamic", "maybe_mark_dynamic", "mark_unbacked")


@dataclass(frozen=True, eq=False)
class Mark:
    """A size to mark: the argument of a call, what of it is marked ("['mask']" of a dict), and the dimensions.

    is_alone: nothing but constants is passed beside it.
    """

    argument: ast.expr
    path: str
    dimensions: tuple[int, ...]
    parameter: str
    is_alone: bool

    @property
    def makes(self) -> str:
        """The dimensions as an argument."""
        return str(self.dimensions[0]) if len(self.dimensions) == 1 else str(list(self.dimensions))


def is_marked(view: FileView, statement: ast.stmt, mark: Mark, others: Mapping[ast.stmt, Sequence[Mark]]) -> bool:
    """True when a statement above, in the same block, marks the argument already, or will by one of the other marks."""
    if not isinstance(mark.argument, ast.Name):
        return False
    block = _block_around(view, statement)
    text = mark.argument.id + mark.path
    for one in reversed(block[: next(number for number, one in enumerate(block) if one is statement)]):
        match one:
            case ast.Expr(value=ast.Call(args=[marked, *_]) as call) if _mark_name(view, call) in _MARKS:
                if view.source.segment(marked) == text:
                    return True
            case ast.For(iter=ast.Name(id=name)) if name == mark.argument.id and EVERY_ITEM in mark.path:
                calls = [part for part in ast.walk(one) if isinstance(part, ast.Call)]
                if calls and all(_mark_name(view, call) in _MARKS for call in calls):
                    return True
        if any(isinstance(n, ast.Name) and n.id == mark.argument.id and _binds(n) for n in ast.walk(one)):
            return False
        same = (other for other in others.get(one, ()) if isinstance(other.argument, ast.Name))
        if any(view.source.segment(other.argument) + other.path == text for other in same):
            return True
    return False


def _binds(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def is_fresh(view: FileView, argument: ast.expr) -> bool:
    """True for a new tensor that nothing else has: a call of `torch.ones` and the like, in the place of an argument."""
    name = view.names.qualified(argument.func) if isinstance(argument, ast.Call) else None
    base, _, function = (name or "").rpartition(".")
    return base == "torch" and function in FACTORIES | LIKE_FACTORIES


def marked_statement(
    view: FileView, statement: ast.stmt, marks: Sequence[Mark], function: str
) -> tuple[Replacement, bool]:
    """The statement with the marks before it, and whether PyTorch has to be imported for them.

    function: as `torch._dynamo` names it, or a public spelling. Arguments that are no names get one first. Raises
    RefusedError when that would change the order in which the program computes.
    """
    source = view.source
    torch, is_new = torch_name(view, statement)
    taken = names_taken(view, statement)
    names: dict[ast.expr, str] = {}
    lines = []
    for mark in sorted(_innermost(marks), key=lambda mark: (mark.argument.lineno, mark.argument.col_offset)):
        if isinstance(mark.argument, ast.Name):
            name = mark.argument.id
            _check_not_rebound(statement, mark.argument)
            _check_not_static(view, mark.argument)
        elif mark.argument in names:
            name = names[mark.argument]
        else:
            check_new_name(view, statement)
            _check_order(view, statement, mark.argument, list(names))
            name = names[mark.argument] = unused_name(word_for(view, statement, mark.parameter), frozenset(taken))
            taken.add(name)
            lines.append(f"{name} = {on_its_own(_text(view, mark.argument))}")
        marking = function.replace("torch", torch, 1)
        if mark.path.startswith(EVERY_ITEM):
            check_new_name(view, statement)
            words = [unused_name(word_for(view, statement, word), frozenset(taken)) for word in ("items", "tensor")]
            lines += _marks_of_items(marking, name, mark, words[-mark.path.count(EVERY_ITEM) :])
        elif (line := f"{marking}({name}{mark.path}, {mark.makes})") not in lines[-1:]:
            lines.append(line)
    lines.append(_with_names(view, statement, names))
    return Replacement(source.span(statement), "\n".join(lines)), is_new


def _innermost(marks: Sequence[Mark]) -> list[Mark]:
    """The marks whose argument holds no other's; the outer ones follow when the inner arguments have names."""
    return [
        mark
        for mark in marks
        if not any(other.argument is not mark.argument and other.argument in ast.walk(mark.argument) for other in marks)
    ]


def _marks_of_items(marking: str, name: str, mark: Mark, words: Sequence[str]) -> list[str]:
    """Loops over the items of a container, and over those of its items. words: what the items are called."""
    lines = []
    for depth, item in enumerate(words):
        lines.append(f"{'    ' * depth}for {item} in {name}:")
        name = item
    return [*lines, f"{'    ' * len(lines)}{marking}({name}, {mark.makes})"]


def _block_around(view: FileView, statement: ast.stmt) -> list[ast.stmt]:
    parent = view.source.parents[statement]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and any(one is statement for one in block):
            return block
    return [statement]


def _mark_name(view: FileView, call: ast.Call) -> str | None:
    base, _, function = (view.names.qualified(call.func) or "").rpartition(".")
    return function if base.startswith("torch") and function in (*_MARKS, _STATIC) else None


def _check_not_rebound(statement: ast.stmt, argument: ast.Name) -> None:
    for part in ast.walk(statement):
        if isinstance(part, ast.NamedExpr) and part.target.id == argument.id:
            reason = f"{argument.id} gets its value within the statement"
            raise RefusedError("the call is always made", reason, part.lineno, ADVICE)


def _check_not_static(view: FileView, argument: ast.Name) -> None:
    """Raise RefusedError when a call in the same scope marks the argument as fixed."""
    here = view.names.scope_of(argument)
    calls = [node for node, scope in view.names.nodes() if scope is here and isinstance(node, ast.Call) and node.args]
    for call in calls:
        if _mark_name(view, call) == _STATIC and view.source.segment(call.args[0]) == argument.id:
            reason = f"{view.source.segment(call)} says that it is fixed"
            advice = "leave mark_static out, if the size may be dynamic"
            raise RefusedError("the size is not fixed on purpose", reason, call.lineno, advice)


def _check_order(view: FileView, statement: ast.stmt, argument: ast.expr, moved: Sequence[ast.expr]) -> None:
    """Raise RefusedError when something before the argument, in the order of evaluation, may do more than read."""
    if any(isinstance(parent, ast.JoinedStr) for parent in view.source.ancestors(argument)) and sys.version_info < (
        3,
        12,
    ):
        raise RefusedError("the order stays the same", "the call stands in an f-string", argument.lineno, ADVICE)
    if any(isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for part in ast.walk(argument)):
        raise RefusedError("the order stays the same", "the argument binds or waits", argument.lineno, ADVICE)
    for part in _before(view, statement, argument):
        if part not in moved and not _only_reads(part):
            text = " ".join(view.source.segment(part).split())
            reason = f"{text} would be computed after the argument"
            raise RefusedError("the order stays the same", reason, part.lineno, ADVICE)


def _before(view: FileView, statement: ast.stmt, argument: ast.expr) -> Iterator[ast.expr]:
    """The expressions that are evaluated before an argument, not within others of them."""
    child: ast.AST = argument
    while child is not statement:
        parent = view.source.parents[child]
        for part in ast.iter_child_nodes(parent):
            part = part.value if isinstance(part, ast.keyword) else part
            if part is child or (isinstance(child, ast.keyword) and part is child.value):
                break
            is_target = isinstance(parent, ast.Assign | ast.AnnAssign) and part is not parent.value
            if isinstance(part, ast.expr) and not is_target:
                yield part
        child = parent


def _only_reads(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


def _text(view: FileView, node: ast.expr) -> str:
    return reindented(view.source.segment(node), indentation_of(view.source, node), "")


def _with_names(view: FileView, statement: ast.stmt, names: dict[ast.expr, str]) -> str:
    """The text of the statement with arguments replaced by names, as at indentation zero."""
    source = view.source
    start = source.span(statement)
    lines = source.segment(statement).split("\n")
    for node, name in sorted(names.items(), key=lambda item: source.span(item[0]), reverse=True):
        span = source.span(node)
        first, last = span.line - start.line, span.end_line - start.line
        begin = span.column - (start.column if first == 0 else 0)
        end = span.end_column - (start.column if last == 0 else 0)
        lines[first : last + 1] = [lines[first][:begin] + name + lines[last][end:]]
    return reindented("\n".join(lines), indentation_of(source, statement), "")
