"""How far the statements of a file reach, and where what they read was made.

Python names the first line of a call alone when something happens in it, and PyTorch names the line where a value that
no graph can hold is needed, not the one where it was made.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache


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


@lru_cache(maxsize=256)
def making_lines(text: str) -> Mapping[int, frozenset[int]]:
    """For the first line of each statement those of the assignments in its function that make what it reads.

    Empty for what is not Python.
    """
    found: dict[int, frozenset[int]] = {}
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.update(_making_lines(list(_statements(node.body))))
    return found


def _making_lines(statements: list[ast.stmt]) -> Iterator[tuple[int, frozenset[int]]]:
    setting: dict[str, list[ast.stmt]] = defaultdict(list)
    for statement in statements:
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for name in _names(statement, ast.Store):
                setting[name].append(statement)
    for statement in statements:
        made: set[ast.stmt] = set()
        waiting = [statement]
        while waiting:
            for name in _names(waiting.pop(), ast.Load):
                new = [one for one in setting[name] if one not in made]
                made.update(new)
                waiting += new
        yield statement.lineno, frozenset(one.lineno for one in made if one is not statement)


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
