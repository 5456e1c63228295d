"""Statements of written tests, laid out as ruff format and black lay them out."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence

WIDTH = 88


def laid_out(text: str, indent: int = 0) -> list[str]:
    """One statement as lines, which are indented by `indent` spaces.

    Calls and displays that do not fit into a line have one item a line. What cannot be broken in this way stays long,
    between comments that keep formatters away.
    """
    node = ast.parse(text).body[0]
    space = " " * indent
    try:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            before = f"{ast.unparse(node.targets[0])} = "
            whole = before + _Layout(text).text(node.value, indent, len(before), 0)
        elif isinstance(node, ast.Return) and node.value is not None:
            whole = "return " + _Layout(text).text(node.value, indent, len("return "), 0)
        elif isinstance(node, ast.Expr):
            whole = _Layout(text).text(node.value, indent, 0, 0)
        else:
            whole = text
            if indent + len(text) > WIDTH:
                raise _CannotBreakError
    except _CannotBreakError:
        return [f"{space}# fmt: off", space + text, f"{space}# fmt: on"]
    return [space + whole]


def import_lines(module: str, names: Sequence[str], indent: int = 0) -> tuple[str, ...]:
    """A from-import of names, each with its "as"; the lines are not indented, but short enough to be."""
    line = f"from {module} import {', '.join(names)}"
    if indent + len(line) <= WIDTH:
        return (line,)
    return (f"from {module} import (", *(f"    {name}," for name in names), ")")


def renamed(name: str, alias: str) -> str:
    """A name in an import, with its "as" where it needs one."""
    return name if name == alias else f"{name} as {alias}"


class _CannotBreakError(Exception):
    """A long expression of another form than a call or a display."""


class _Layout:
    """Lays out the expressions of one statement."""

    def __init__(self, source: str) -> None:
        self._source = source

    def text(self, node: ast.expr, indent: int, before: int, after: int) -> str:
        """before, after: how many characters stand around the expression in its line."""
        line = self._line(node)
        if indent + before + len(line) + after <= WIDTH:
            return line
        opening, items, closing = self._parts(node)
        if not items:
            if set("([{") & set(line):
                raise _CannotBreakError
            return line
        inner, space = indent + 4, " " * (indent + 4)
        lines = [f"{space}{name}{self.text(item, inner, len(name), 1)}," for name, item in items]
        return "\n".join([opening, *lines, " " * indent + closing])

    def _line(self, node: ast.expr) -> str:
        opening, items, closing = self._parts(node)
        if not opening:
            return self._leaf(node)
        inside = ", ".join(name + self._line(item) for name, item in items)
        only = "," if isinstance(node, ast.Tuple) and len(items) == 1 else ""
        return f"{opening}{inside}{only}{closing}"

    def _parts(self, node: ast.expr) -> tuple[str, list[tuple[str, ast.expr]], str]:
        """What stands before the items, the items with what stands before each, and what follows; empty for others."""
        match node:
            case ast.Call(func=ast.Name() | ast.Attribute() as function) if not _has_call(function):
                names = [(f"{each.arg}=" if each.arg else "**", each.value) for each in node.keywords]
                items = [("*", each.value) if isinstance(each, ast.Starred) else ("", each) for each in node.args]
                return f"{ast.unparse(function)}(", [*items, *names], ")"
            case ast.List(elts=elements):
                return "[", [("", each) for each in elements], "]"
            case ast.Tuple(elts=elements):
                return "(", [("", each) for each in elements], ")"
            case ast.Dict(keys=keys, values=values) if all(keys):
                named = zip(keys, values, strict=True)
                return "{", [(f"{self._line(key)}: ", value) for key, value in named if key is not None], "}"
        return "", [], ""

    def _leaf(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return json.dumps(node.value, ensure_ascii=False)
        return ast.get_source_segment(self._source, node) or ast.unparse(node)


def _has_call(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call | ast.Subscript) for each in ast.walk(node))
