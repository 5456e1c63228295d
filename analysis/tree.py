"""The names that parts of a syntax tree hold, in any scope."""

from __future__ import annotations

import ast
from collections.abc import Iterable


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Every name that stands in the nodes as an expression or target."""
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def stored_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Every name that the nodes may bind, in any scope."""
    found: set[str] = set()
    for top in nodes:
        for node in ast.walk(top):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                    found.update(alias.asname or alias.name.split(".")[0] for alias in aliases)
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    found.add(name)
                case ast.MatchMapping(rest=str(name)):
                    found.add(name)
                case _:
                    continue
    return frozenset(found)
