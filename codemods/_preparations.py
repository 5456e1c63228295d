"""What a side of a branch prepares before it computes: attributes made once, or moved to where they are needed.

Preparing what the other side would need changes no result, so that a branch which begins with it can still be selected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.effects import Effects, Note
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import shorten
from gbfix.analysis.source import SourceFile
from gbfix.analysis.tree import stored_names
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import indentation_of, reindented

EARLY = "what a side prepares can be prepared on either side"
"""The claim that a preparation which always runs now is not noticed."""
ALONE = "nothing else uses what a side prepares"
"""The claim that an attribute is a store of this branch alone, so that nobody can tell when it was made."""
TOTAL = "the side not taken cannot fail or warn"
"""The claim that running the other side, too, raises nothing."""

_ADVICE = "prepare it before the branch"
_MOVES = ("to", "cpu", "cuda", "contiguous")


def prepared_by(flow: Flow, statement: ast.stmt) -> ast.Attribute | None:
    """The attribute that a statement prepares: one it makes if it is not there, or moves to where it is needed."""
    match statement:
        case ast.If(test=test, body=body, orelse=[]):
            wanted = _missing(flow, test)
            if wanted is None or not all(isinstance(part, ast.Assign) for part in body):
                return None
            found = [target for target in _stores(body) if isinstance(target, ast.Attribute)]
            return found[0] if [(_segment(flow, one.value), one.attr) for one in found] == [wanted] else None
        case ast.Assign(targets=[ast.Attribute(value=ast.Name()) as target], value=value):
            return target if _moves(flow, target, value) else None
        case _:
            return None


def preparation(flow: Flow, statement: ast.stmt, attribute: ast.Attribute, state: State) -> tuple[str, Effects]:
    """The statement as a line of its own, and what running it does. Raises RefusedError where it does more."""
    inside = set(ast.walk(statement))
    _check_names(flow, statement, inside)
    effects = Effects()
    for part in ast.walk(statement):
        if isinstance(part, ast.Assign):
            effects.add(flow.evaluate(part.value, flow.before.get(part, state))[1].effects)
    for note in [*effects.random, *(note for note in effects.impure if not _is_unknown(note))]:
        raise RefusedError(EARLY, note.text, note.line, _ADVICE)
    for target in _stores([statement]):
        if target is not attribute:
            text = f"`{shorten(_segment(flow, statement))}` sets more than {_segment(flow, attribute)}"
            raise RefusedError(EARLY, text, target.lineno, _ADVICE)
    source = flow.context.source
    indentation = indentation_of(source, statement)
    above = _comment_above(source, statement)
    return "\n".join([*above, reindented(source.segment(statement), indentation, "")]), effects


def _comment_above(source: SourceFile, statement: ast.stmt) -> list[str]:
    """The comment lines right above a statement, which move with it."""
    line = source.span(statement).line - 1
    found: list[str] = []
    while line > 0 and source.lines[line - 1].strip().startswith("#"):
        found.insert(0, source.lines[line - 1].strip())
        line -= 1
    return found


def used_only_here(flow: Flow, attribute: ast.Attribute, branch: ast.AST) -> bool:
    """True when nothing else in the given files names the attribute."""
    own = set(ast.walk(branch))
    for _, source in flow.context.view.project.files.naming(attribute.attr):
        for node in source.nodes:
            named = isinstance(node, ast.Attribute) and node.attr == attribute.attr
            if (named or (isinstance(node, ast.Constant) and node.value == attribute.attr)) and node not in own:
                return False
    return True


def check_apart(flow: Flow, attribute: ast.Attribute, side: list[ast.stmt]) -> None:
    """Raise RefusedError when the other side, or the rest of the function, may see what `side` has prepared."""
    own = {node for statement in side for node in ast.walk(statement)}
    for part in ast.walk(flow.context.function.node):
        by_name = isinstance(part, ast.Attribute) and part.attr == attribute.attr
        if part not in own and (by_name or (isinstance(part, ast.Constant) and part.value == attribute.attr)):
            text = f"{_segment(flow, attribute)}, which one side prepares, is used outside of it"
            raise RefusedError(EARLY, text, getattr(part, "lineno", attribute.lineno), _ADVICE)


def _check_names(flow: Flow, statement: ast.stmt, inside: set[ast.AST]) -> None:
    """Names that the preparation binds are its own."""
    bound = stored_names([statement])
    for node in ast.walk(flow.context.function.node):
        if isinstance(node, ast.Name) and node.id in bound and node not in inside:
            reason = f"{node.id}, which it binds, is used elsewhere in the function"
            raise RefusedError(EARLY, reason, statement.lineno, _ADVICE)


def _missing(flow: Flow, test: ast.expr) -> tuple[str, str] | None:
    """The object and the name of an attribute whose absence a condition asks about."""
    match test:
        case ast.UnaryOp(
            op=ast.Not(),
            operand=ast.Call(func=func, args=[ast.Name() as base, ast.Constant(value=str() as name)], keywords=[]),
        ) if flow.context.names.is_builtin(func, "hasattr"):
            return base.id, name
        case ast.Compare(
            left=ast.Attribute(value=ast.Name(id=owner), attr=name),
            ops=[ast.Is()],
            comparators=[ast.Constant(value=None)],
        ):
            return owner, name
        case _:
            return None


def _stores(statements: list[ast.stmt]) -> Iterator[ast.Attribute | ast.Subscript]:
    """The attributes and elements that the statements set."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                yield node


def _moves(flow: Flow, target: ast.Attribute, value: ast.expr) -> bool:
    """True for `self.x = self.x.to(device)`."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as moved, attr=attribute)) if attribute in _MOVES:
            return _segment(flow, moved) == _segment(flow, target)
        case _:
            return False


def _is_unknown(note: Note) -> bool:
    """True for a call or attribute of which nothing is known, rather than something known to do more than compute."""
    return note.text.endswith(("is not known", "may run a method"))


def _segment(flow: Flow, node: ast.AST) -> str:
    return flow.context.source.segment(node)
