"""Whether the value that a name holds after a statement is read later."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from enum import Enum

from gbfix.analysis.source import Function, FunctionNode, SourceFile


class _Use(Enum):
    READ = "read before it is written"
    WRITTEN = "written or left before it is read"
    THROUGH = "neither"


def is_read_after(source: SourceFile, function: Function, statements: Sequence[ast.stmt], name: str) -> bool:
    """True when code that may run after consecutive `statements` of one block can read `name` before writing it.

    Errs towards True: inner functions, `global` names, `locals()` and `del` count as reads, and so does every read in
    a handler or `finally` around the statements.
    """
    if is_read_by_others(source, function, statements[0], name):
        return True
    node: ast.AST = statements[-1]
    while node is not function.node:
        parent = source.parents[node]
        use = _use_of_block(_following(parent, node), name)
        if use is _Use.THROUGH and isinstance(parent, ast.For | ast.AsyncFor | ast.While):
            use = _use_of_loop_again(parent, name)
            if use is _Use.THROUGH and node in parent.body:
                use = _use_of_block(parent.orelse, name)
        if use is not _Use.THROUGH:
            return use is _Use.READ
        node = parent
    return False


def is_read_by_others(source: SourceFile, function: Function, statement: ast.stmt, name: str) -> bool:
    """True when code that does not simply follow can read the name: inner functions, handlers, `finally`."""
    if _escapes(function, name):
        return True
    for parent in source.ancestors(statement):
        if parent is function.node:
            return False
        if isinstance(parent, ast.Try):
            rest: list[ast.AST] = [*parent.handlers, *parent.orelse, *parent.finalbody]
            if any(_reads(part, name) for part in rest):
                return True
    return False


def _following(parent: ast.AST, node: ast.AST) -> Sequence[ast.stmt]:
    for _, block in ast.iter_fields(parent):
        if isinstance(block, list) and node in block and isinstance(node, ast.stmt):
            return [s for s in block[block.index(node) + 1 :] if isinstance(s, ast.stmt)]
    return []


def _use_of_loop_again(loop: ast.For | ast.AsyncFor | ast.While, name: str) -> _Use:
    """The next iteration, or leaving: a write in the body may not happen, so only reads are certain to count."""
    head: ast.AST = loop.test if isinstance(loop, ast.While) else loop.target
    if _reads(head, name) or _use_of_block(loop.body, name) is _Use.READ:
        return _Use.READ
    return _Use.THROUGH


def _use_of_block(body: Iterable[ast.stmt], name: str) -> _Use:
    for statement in body:
        use = _use(statement, name)
        if use is not _Use.THROUGH:
            return use
    return _Use.THROUGH


def _use(statement: ast.stmt, name: str) -> _Use:
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            if _reads(test, name):
                return _Use.READ
            uses = {_use_of_block(body, name), _use_of_block(orelse, name)}
            if _Use.READ in uses:
                return _Use.READ
            return _Use.WRITTEN if uses == {_Use.WRITTEN} else _Use.THROUGH
        case ast.Break() | ast.Continue():
            return _Use.READ
        case ast.Return() | ast.Raise():
            return _Use.READ if _reads(statement, name) else _Use.WRITTEN
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Delete():
            if _reads(statement, name):
                return _Use.READ
            return _Use.WRITTEN if _writes(statement, name) else _Use.THROUGH
        case ast.For(iter=head, body=body, orelse=orelse) | ast.AsyncFor(iter=head, body=body, orelse=orelse):
            read = (
                _reads(head, name) or _use_of_block(body, name) is _Use.READ or _use_of_block(orelse, name) is _Use.READ
            )
            return _Use.READ if read else _Use.THROUGH
        case _:
            return _Use.READ if _reads(statement, name) else _Use.THROUGH


def _reads(node: ast.AST, name: str) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Store):
            return True
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name) and part.target.id == name:
            return True
    return False


def _writes(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(node))


def _escapes(function: Function, name: str) -> bool:
    for node in ast.walk(function.node):
        if isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
            return True
        if isinstance(node, FunctionNode) and node is not function.node and _reads(node, name):
            return True
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("locals", "vars", "eval", "exec")
        ):
            return True
    return False
