"""Statements at the top of a module: finding the one around a place, and putting a new one above it."""

from __future__ import annotations

import ast

from gbfix.analysis.source import SourceFile
from gbfix.engine.model import Replacement


def top_level_statement(source: SourceFile, node: ast.AST) -> ast.stmt:
    """The statement of the module's own block that holds a node."""
    while (parent := source.parents[node]) is not source.tree:
        node = parent
    assert isinstance(node, ast.stmt)
    return node


def inserted_above(source: SourceFile, node: ast.expr, new: str, statement: str) -> Replacement:
    """An edit that puts a statement above the top-level statement that holds an expression, and replaces that one."""
    holder = top_level_statement(source, node)
    outer, inner = source.span(holder), source.span(node)
    lines = source.segment(holder).split("\n")
    first, last = inner.line - outer.line, inner.end_line - outer.line
    start = inner.column - (outer.column if first == 0 else 0)
    end = inner.end_column - (outer.column if last == 0 else 0)
    changed = lines[first][:start] + new + lines[last][end:]
    text = "\n".join([*lines[:first], changed, *lines[last + 1 :]])
    return Replacement(outer, f"{statement}\n\n\n{text}")
