"""The lines of a source text as Python counts them."""

from __future__ import annotations

import re

from gbfix.engine.model import Span

_LINE_END = re.compile("\r\n|\n|\r")


def split_lines(text: str) -> list[str]:
    """The lines without their ends; unlike `str.splitlines`, other control characters end no line."""
    return _LINE_END.split(text)


def text_of(span: Span, text: str) -> str:
    """The text of a span, line ends as line feeds."""
    lines = split_lines(text)[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    return "\n".join(lines)
