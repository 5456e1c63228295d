"""The property through which others go on reading and setting a number that became a buffer."""

from __future__ import annotations

import ast

from gbfix.analysis.project import Project
from gbfix.analysis.source import SourceFile
from gbfix.codemods import _boundary_text as text
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import in_style_of
from gbfix.engine.model import Replacement


def check_free(project: Project, held: str, advice: str) -> None:
    """Raise RefusedError when something in the project has the name of the buffer."""
    for path, file in project.files.naming(held):
        for node in ast.walk(file.tree):
            named = (getattr(node, "attr", ""), getattr(node, "value", ""), getattr(node, "name", ""))
            if held in named:
                line = getattr(node, "lineno", 0)
                raise RefusedError("a buffer can have the name", f"{path}:{line} uses {held}", line, advice)


def with_property(source: SourceFile, start: ast.Assign, names: tuple[str, str], new: str) -> Replacement:
    """`__init__` with the buffer in place of the assignment `start`, and the property behind it.

    names: of the property and of the buffer.
    """
    name, held = names
    method = next(parent for parent in source.ancestors(start) if isinstance(parent, ast.FunctionDef))
    read = f"@property\ndef {name}(self) -> int:\n    return int(self.{held})"
    write = f"@{name}.setter\ndef {name}(self, value: int) -> None:\n    self.{held}.fill_(value)"
    whole = f"{text.edited(source, method, {start: new})}\n\n{read}\n\n{write}"
    return Replacement(source.span(method), in_style_of(source, whole))


def through_property(project: Project, path: str, node: ast.Attribute, largest: int) -> bool:
    """True for a use outside of compiled code that works with a property: a read, or a write of an integer."""
    source = project.files[path]
    functions = {compiled.function.node for compiled in project.compiled[path]}
    if any(parent in functions for parent in source.ancestors(node)):
        return False
    if isinstance(node.ctx, ast.Load):
        return True
    match source.parents[node]:
        case (
            ast.Assign(value=ast.Constant(value=int() as value))
            | ast.AugAssign(op=ast.Add() | ast.Sub(), value=ast.Constant(value=int() as value))
        ):
            return type(value) is int and abs(value) <= largest
        case _:
            return False
