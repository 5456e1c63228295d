"""F-strings written anew: Python before 3.12 does not say where their parts stand."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping


def with_names(node: ast.JoinedStr, edits: Mapping[ast.AST, str]) -> str:
    """The source of an f-string with other names in it, in double quotes where it has none inside."""
    new = copy.deepcopy(node)
    edited = {id(ours): edits[old] for old, ours in zip(ast.walk(node), ast.walk(new), strict=True) if old in edits}
    source = ast.unparse(_Renamer(edited).visit(new))
    return f'f"{source[2:-1]}"' if source.startswith("f'") and '"' not in source else source


class _Renamer(ast.NodeTransformer):
    def __init__(self, edited: Mapping[int, str]) -> None:
        self._edited = edited

    def visit(self, node: ast.AST) -> ast.AST:
        name = self._edited.get(id(node))
        found: ast.AST = ast.Name(name, ast.Load()) if name is not None else self.generic_visit(node)
        return found
