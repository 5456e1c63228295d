"""Texts of a program as parts of another program."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[\t\n -~\u00a0-\ud7ff\ue000-\uffff\U00010000-\U0010ffff]*\Z")
_LONGEST = 400


def as_literal(text: str) -> str:
    """A literal for the text that reads like it: in triple quotes where they can hold it, else line by line."""
    if _PLAIN.match(text) and "'''" not in text and not text.endswith(("\\", "'")):
        return f"r'''{text}'''" if "\\" in text else f"'''\\\n{text}'''"
    lines = "\n".join(f"        {line!a}" for line in text.splitlines(keepends=True))
    return f"(\n{lines}\n    )" if lines else '""'


def as_paragraph(text: str) -> str:
    """A text in one line of a docstring, cut where it is very long."""
    line = " ".join(text.split())
    line = line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
    return ascii(line)[1:-1] if not _PLAIN.match(line) else line.rstrip("\\")
