"""The source of a function, or of its last statements, under `torch.compiler.disable`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gbfix.analysis.flow import flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import indentation_of, reindented, unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.model import Fix, Replacement, Span

MOVES = "the statements can be a function of their own"
_REASON = "computes indices from the values of tensors"
_FIRST_WITH_REASON = (2, 8)
_WIDE = 60
_HOLDERS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def decorated(view: FileView, function: ast.FunctionDef) -> Fix:
    """The whole function under the decorator."""
    torch, missing = torch_name(view, function)
    span = view.source.span(function)
    text = reindented(_segment(view, span), indentation_of(view.source, function), "")
    return Fix(
        f"do not compile {function.name}, nor what it calls",
        (Replacement(span, f"{disabling(view, torch, _REASON)}\n{text}"),),
        ("torch",) if missing else (),
    )


def extracted(view: FileView, function: Function, statements: Sequence[ast.stmt], advice: str) -> Fix:
    """The last statements of a function in a new one, under the decorator. Raises RefusedError."""
    source, node = view.source, function.node
    assert isinstance(node, ast.FunctionDef)
    holders = [one for one in source.ancestors(statements[0]) if isinstance(one, _HOLDERS)]
    outermost = holders[-1]
    torch, missing = torch_name(view, outermost)
    given = _given(view, function, statements, advice)
    taken = all_names(source.tree) | set(view.names.local_bindings(source.tree))
    taken |= {one.name for one in source.nodes if isinstance(one, _HOLDERS)}
    name = unused_name(f"_{node.name.strip('_')}_uncompiled", frozenset(taken))
    call = f"{name}({_wrapped(given)})"
    start, end, place = source.span(statements[0]), source.span(statements[-1]), source.span(outermost)
    moved = _segment(view, Span(*start.start, *end.end))
    body = reindented(reindented(moved, indentation_of(source, statements[0]), ""), "", "    ")
    indentation = indentation_of(source, statements[0])
    left = [
        _segment(view, Span(*place.start, *start.start)),
        reindented(f"return {call}", "", indentation)[len(indentation) :],
        _segment(view, Span(*end.end, *place.end)),
    ]
    helper = f"{disabling(view, torch, _REASON)}\ndef {call}:\n{body}"
    # Below, comments above the function stay with it; but a decorator or a class may call it before that is reached.
    below = outermost is node and not node.decorator_list
    text = "\n\n\n".join(["".join(left), helper] if below else [helper, "".join(left)])
    title = f"compute the indices in {name}, which is not compiled"
    return Fix(title, (Replacement(place, text),), ("torch",) if missing else ())


def _wrapped(names: Sequence[str]) -> str:
    """Names between parentheses, on lines of their own when they are many."""
    joined = ", ".join(names)
    return joined if len(joined) < _WIDE else "\n    " + ",\n    ".join(names) + ",\n"


def _given(view: FileView, function: Function, statements: Sequence[ast.stmt], advice: str) -> list[str]:
    """The names of the function that the statements read and that have a value before. Raises RefusedError.

    Parameters come first, in their order, then the others as they are read.
    """
    own = function.node
    state = flow_of(view, function).before.get(statements[0])
    line = statements[0].lineno
    if state is None:
        raise RefusedError(MOVES, "they are never reached", line, advice)
    assert isinstance(own, ast.FunctionDef)
    earlier = own.body[: own.body.index(statements[0])]
    parameters = [one.arg for one in function.parameters]
    bound = {*parameters, *(name for name in view.names.local_bindings(own) if _stores(earlier, name))}
    bound -= _set_first(statements)
    inner = {part for one in statements for part in ast.walk(one)}
    read: list[str] = []
    for part in (part for one in statements for part in ast.walk(one)):
        if not isinstance(part, ast.Name) or part.id in read:
            continue
        scope, _ = view.names.lookup(part.id, part)
        if scope in inner or isinstance(scope, ast.Module) or (scope is own and part.id not in bound):
            continue
        if scope is not own:
            raise RefusedError(MOVES, f"{part.id} belongs to a function around it", part.lineno, advice)
        if part.id not in parameters and part.id not in state.values:
            raise RefusedError(MOVES, f"{part.id} may have no value there", part.lineno, advice)
        read.append(part.id)
    return [*(name for name in parameters if name in read), *(name for name in read if name not in parameters)]


def _set_first(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that the statements give a value before they read them."""
    found: set[str] = set()
    read: set[str] = set()
    for statement in statements:
        inside = {p.id for p in ast.walk(statement) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Load)}
        read |= inside
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        found |= {one.id for one in targets if isinstance(one, ast.Name)} - read
    return found


def _stores(statements: Sequence[ast.stmt], name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load)
        for statement in statements
        for part in ast.walk(statement)
    )


def _segment(view: FileView, span: Span) -> str:
    lines = view.source.lines[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column]
    return "\n".join([lines[0][span.column :], *lines[1:]])


def disabling(view: FileView, torch: str, reason: str) -> str:
    """The decorator that keeps a function out of what is compiled, with the reason where it takes one."""
    major, minor = view.project.torch.version.split(".")[:2]
    given = f'(reason="{reason}")' if (int(major), int(minor)) >= _FIRST_WITH_REASON else ""
    return f"@{torch}.compiler.disable{given}"
