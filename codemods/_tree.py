"""Questions about the form of statements and expressions, whatever they compute."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from gbfix.analysis.source import FunctionNode, SourceFile
from gbfix.analysis.tree import names_in


def captured_in(node: ast.expr) -> list[ast.expr]:
    """Names and attribute paths that an expression reads as values, not as functions."""
    if isinstance(node, ast.Call):
        parts = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(node.func, ast.Attribute):
            parts.append(node.func.value)
        return [name for part in parts for name in captured_in(part)]
    if isinstance(node, ast.Name | ast.Attribute):
        return [node]
    return [name for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr) for name in captured_in(child)]


def always_returns(body: Sequence[ast.stmt]) -> bool:
    """True when every way through the statements ends in a `return` at their end."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    return isinstance(last, ast.If) and always_returns(last.body) and always_returns(last.orelse)


def starred(nodes: Sequence[ast.expr]) -> bool:
    """True when one of the expressions is unpacked in place, so that their number is not known."""
    return any(isinstance(node, ast.Starred) for node in nodes)


def all_names(tree: ast.AST) -> set[str]:
    """Every name that a new one must differ from: those in expressions, and parameters that nothing reads."""
    return set(_all_names(tree))


@lru_cache(maxsize=2)
def _all_names(tree: ast.AST) -> frozenset[str]:
    return frozenset(names_in([tree])) | {part.arg for part in ast.walk(tree) if isinstance(part, ast.arg)}


def is_elif(source: SourceFile, node: ast.stmt) -> bool:
    """True for an `if` that is written as `elif`."""
    if not isinstance(node, ast.If):
        return False
    span = source.span(node)
    return source.lines[span.line - 1][span.column :].startswith("elif")


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks directly inside a compound statement."""
    for _, value in ast.iter_fields(statement):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value
        elif isinstance(value, list) and value and isinstance(value[0], ast.ExceptHandler | ast.match_case):
            for part in value:
                yield part.body


def leaving(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The `return` and `raise` statements inside, not those of inner functions."""
    for statement in statements:
        if isinstance(statement, ast.Return | ast.Raise):
            yield statement
        elif not isinstance(statement, FunctionNode | ast.ClassDef):
            for block in blocks_of(statement):
                yield from leaving(block)
