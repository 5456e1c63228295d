"""Pieces of source text for new code."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping

from gbfix.analysis.source import SourceFile

LINE_LENGTH = 100


def render(source: SourceFile, node: ast.expr, renames: Mapping[str, str], indentation: str) -> str | None:
    """The text of an expression with names replaced and its block's indentation taken off continuation lines.

    None when a name to replace stands in an f-string, whose inner positions Python before 3.12 does not give.
    """
    span = source.span(node)
    lines = source.lines[span.line - 1 : span.end_line]
    edits = []
    for name in ast.walk(node):
        if isinstance(name, ast.Name) and name.id in renames:
            if _inside_f_string(source, name, node):
                return None
            edits.append((source.span(name), renames[name.id]))
    for place, new in sorted(edits, reverse=True):
        index = place.line - span.line
        lines[index] = lines[index][: place.column] + new + lines[index][place.end_column :]
    grown = len(lines[-1]) - len(source.lines[span.end_line - 1])
    lines[-1] = lines[-1][: span.end_column + grown]
    first = lines[0][span.column :] if len(lines) > 1 else lines[-1][span.column :]
    text_lines = _string_lines(node)
    rest = [
        line if number in text_lines else line.removeprefix(indentation)
        for number, line in enumerate(lines[1:], span.line + 1)
    ]
    return "\n".join([first, *rest])


def indentation_of(source: SourceFile, node: ast.AST) -> str:
    """The blanks before the line on which a node starts."""
    line = source.lines[source.span(node).line - 1]
    return line[: len(line) - len(line.lstrip())]


def _inside_f_string(source: SourceFile, node: ast.AST, top: ast.AST) -> bool:
    for parent in source.ancestors(node):
        if isinstance(parent, ast.JoinedStr):
            return True
        if parent is top:
            return False
    return False


def _string_lines(node: ast.expr) -> frozenset[int]:
    """Lines that begin inside a string literal: their leading blanks are text."""
    found: set[int] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str | bytes)):
            found.update(range(part.lineno + 1, (part.end_lineno or part.lineno) + 1))
    return frozenset(found)


def reindented(text: str, old: str, new: str) -> str:
    """The text with `new` before every line, in place of `old` before all lines but the first.

    Lines that begin inside a string literal stay as they are: their leading blanks are text.
    """
    first, *rest = text.split("\n")
    inside = _lines_begun_in_strings(text)
    moved = [
        line if number in inside or not line else new + line.removeprefix(old) for number, line in enumerate(rest, 2)
    ]
    return "\n".join([new + first, *moved])


def _lines_begun_in_strings(text: str) -> frozenset[int]:
    """The lines of new source that begin inside a string; parentheses around it make any indentation right."""
    found: set[int] = set()
    opened: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline):
        kind = tokenize.tok_name[token.type]
        if kind.endswith("STRING_START"):  # from Python 3.12 on, an f-string is several tokens
            opened.append(token.start[0])
        elif kind == "STRING" or kind.endswith("STRING_END"):
            start = token.start[0] if kind == "STRING" else opened.pop()
            found.update(range(start + 1, token.end[0] + 1))
    return frozenset(found)


def on_its_own(text: str) -> str:
    """The text of an expression as the right side of a statement: in parentheses when its lines need them."""
    if "\n" not in text:
        return text
    try:
        statements = ast.parse(f"_ = {text}").body
    except SyntaxError:
        return f"({text})"
    # A line that starts with a sign may be a statement of its own.
    return text if len(statements) == 1 else f"({text})"


def trailing_comment(source: SourceFile, node: ast.expr) -> str:
    """The comment behind the statement that ends with an expression, with the blanks before it; empty without one."""
    span = source.span(node)
    rest = source.lines[span.end_line - 1][span.end_column :]
    return rest.rstrip() if rest.strip().startswith("#") else ""


def in_style_of(source: SourceFile, text: str) -> str:
    """New source indented with tabs where the file is, but for lines that begin inside a string literal."""
    first = next((line for line in source.lines if line[:1] in (" ", "\t") and line.strip()), "")
    if not first.startswith("\t"):
        return text
    inside = _lines_begun_in_strings(text)
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        blanks = 0 if number in inside else len(line) - len(line.lstrip(" "))
        lines.append("\t" * (blanks // 4) + " " * (blanks % 4) + line[blanks:])
    return "\n".join(lines)


def call(function: str, arguments: list[str], prefix: str = "", indentation: int = 0) -> str:
    """`function(arguments)`, on one line or, when `prefix` and it would be too long, one argument a line."""
    flat = f"{function}({', '.join(arguments)})"
    if "\n" not in flat and indentation + len(prefix) + len(flat) <= LINE_LENGTH:
        return flat
    inner = "".join(reindented(argument, "", "    ") + ",\n" for argument in arguments)
    return f"{function}(\n{inner})"


def unused_name(wanted: str, taken: frozenset[str]) -> str:
    """`wanted`, or `wanted_2` and so on, not among `taken`."""
    if wanted not in taken:
        return wanted
    return next(name for number in range(2, 10_000) if (name := f"{wanted}_{number}") not in taken)
