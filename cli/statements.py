"""How far the statements of a file reach, and where what they read was made.

Python names the first line of a call alone when something happens in it, and PyTorch names the line where a value that
no graph can hold is needed, not the one where it was made.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from gbfix.engine.dataclass import dataclass


@lru_cache(maxsize=256)
def last_lines(text: str) -> Mapping[int, int]:
    """For the first line of each statement its last one, of a compound statement that of its header.

    Empty for what is not Python.
    """
    found: dict[int, int] = {}
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = (body[0].lineno - 1 if body else node.end_lineno) or node.lineno
            found[node.lineno] = max(found.get(node.lineno, 0), last, node.lineno)
    return found


def making_lines(text: str, line: int) -> frozenset[int]:
    """The lines of the assignments in its function that make what the statements at a line read, directly or not.

    Empty for what is not Python.
    """
    found: set[int] = set()
    for function in _functions(text):
        waiting, seen = list(function.at.get(line, ())), set[str]()
        while waiting:
            new = function.reads[waiting.pop()] - seen
            seen |= new
            makers = [maker for name in new for maker in function.makers.get(name, ())]
            found.update(maker.lineno for maker in makers)
            waiting += makers
    return frozenset(found)


@dataclass(frozen=True)
class _Function:
    """The statements of a function: by line, what each reads, and the assignments that make each name."""

    at: Mapping[int, Sequence[ast.stmt]]
    reads: Mapping[ast.stmt, set[str]]
    makers: Mapping[str, Sequence[ast.stmt]]


@lru_cache(maxsize=256)
def _functions(text: str) -> tuple[_Function, ...]:
    nodes = [node for node in ast.walk(_parsed(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return tuple(_function(list(_statements(node.body))) for node in nodes)


def _function(statements: list[ast.stmt]) -> _Function:
    at: dict[int, list[ast.stmt]] = defaultdict(list)
    makers: dict[str, list[ast.stmt]] = defaultdict(list)
    for statement in statements:
        at[statement.lineno].append(statement)
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for name in _names(statement, ast.Store):
                makers[name].append(statement)
    return _Function(at, {statement: _names(statement, ast.Load) for statement in statements}, makers)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block with those inside them, without those of inner functions and classes."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt):
                yield from _statements([child])
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                yield from _statements(child.body)


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    """The names that a statement reads or sets itself, without the statements inside it."""
    found: set[str] = set()
    waiting: list[ast.AST] = [one for one in ast.iter_child_nodes(statement) if not isinstance(one, ast.stmt)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            found.add(node.id)
        waiting += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]
    return found


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
