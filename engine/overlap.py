"""Which of several findings can be fixed at the same time."""

from __future__ import annotations

from collections.abc import Iterable

from gbfix.engine.model import Finding, Fix, Safety, Span


def without_overlaps(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings without those whose fix would edit source that another one's fix edits too.

    The innermost edit is kept, so that a later pass sees the outer one as it then stands; of equal ones the
    first by position, then by code. Findings without a fix, and refused ones, stay as they are. The result is sorted
    by position and code.
    """
    kept: list[Finding] = []
    taken: list[Span] = []
    for finding in sorted(findings, key=_innermost_first):
        fix = _applicable_fix(finding)
        if fix is None:
            kept.append(finding)
            continue
        spans = [replacement.span for replacement in fix.replacements]
        if not any(span.overlaps(other) for span in spans for other in taken):
            kept.append(finding)
            taken.extend(spans)
    return tuple(sorted(kept, key=lambda finding: (finding.span, finding.code)))


def _applicable_fix(finding: Finding) -> Fix | None:
    return None if finding.safety is Safety.REFUSED else finding.fix


def _innermost_first(finding: Finding) -> tuple[tuple[int, int], Span, str]:
    """A span inside another one has fewer lines, or equally many and fewer columns."""
    spans = [replacement.span for replacement in finding.fix.replacements] if finding.fix else []
    extent = max(((s.end_line - s.line, s.end_column - s.column) for s in spans), default=(0, 0))
    return extent, finding.span, finding.code
