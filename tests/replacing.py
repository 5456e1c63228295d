"""Writing edits for tests by the text that they replace."""

from __future__ import annotations

from gbfix.engine.edit import apply_fixes
from gbfix.engine.lines import split_lines
from gbfix.engine.model import Fix, Replacement, Span


def span_of(text: str, part: str, occurrence: int = 0) -> Span:
    """The span of a part of the text; line ends of `part` are those of the text."""
    offset = -1
    for _ in range(occurrence + 1):
        offset = text.index(part, offset + 1)
    start, end = split_lines(text[:offset]), split_lines(text[: offset + len(part)])
    return Span(len(start), len(start[-1]), len(end), len(end[-1]))


def fix(text: str, *pairs: tuple[str, str], imports: tuple[str, ...] = ()) -> Fix:
    """A fix that replaces the first occurrence of each old text by the new source."""
    return Fix("test", tuple(Replacement(span_of(text, old), new) for old, new in pairs), imports)


def edited(text: str, *pairs: tuple[str, str], imports: tuple[str, ...] = ()) -> str:
    """The text after one fix."""
    return apply_fixes(text, [fix(text, *pairs, imports=imports)])
