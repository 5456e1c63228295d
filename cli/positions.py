"""Where a line of one text stands in another version of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from gbfix.engine.model import Finding, Span


@lru_cache(maxsize=2)
def _blocks(text: str, other: str) -> Sequence[tuple[str, int, int, int, int]]:
    from difflib import SequenceMatcher  # slow to load, and needed only where a text was changed

    return SequenceMatcher(None, text.split("\n"), other.split("\n"), autojunk=False).get_opcodes()


def moved(finding: Finding, text: str, other: str) -> Finding:
    """The finding of `text` with the lines it has in `other`; its fix can no longer be made there.

    A line that `other` does not have goes to the first line of what stands in its place.
    """
    if text == other:
        return finding
    blocks = _blocks(text, other)

    def line_in_other(line: int) -> int:
        for _, start, end, other_start, other_end in blocks:
            if start < line <= end:
                same_size = end - start == other_end - other_start
                return other_start + (line - start if same_size else 1)
        return line

    def there(span: Span) -> Span:
        first = line_in_other(span.line)
        return Span(first, span.column, max(first, line_in_other(span.end_line)), span.end_column)

    fix = finding.fix
    if fix is not None:
        fix = replace(fix, replacements=tuple(replace(one, span=there(one.span)) for one in fix.replacements))
    obligations = tuple(replace(o, line=line_in_other(o.line) if o.line else 0) for o in finding.obligations)
    return replace(finding, span=there(finding.span), obligations=obligations, fix=fix)
