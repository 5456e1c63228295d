"""Tells what a run showed from what the source proves.

Rules that were given observations take them for facts. Comparing with what they find without any says which
obligations rest on them: those are observed, and the finding says how often its line was seen and where that is
written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gbfix.engine.model import Discharge, Finding, Obligation, Safety, Span


def with_observed(
    found: Sequence[Finding], unseen: Iterable[Finding], seen: Mapping[int, str], document: str
) -> tuple[Finding, ...]:
    """The findings made with observations, each obligation labelled by what it rests on.

    unseen: the findings of the same text without observations; one that the source alone shows to be safe needs none.
    seen: how often each line was observed, in words. document: where the observations are written down.
    """
    alone: dict[tuple[str, Span], Finding] = {(finding.code, finding.span): finding for finding in unseen}
    proved = {key: finding for key, finding in alone.items() if finding.safety is Safety.SAFE}
    return tuple(
        proved.get((finding.code, finding.span))
        or _labelled(finding, alone.get((finding.code, finding.span)), seen.get(finding.span.line, "seen"), document)
        for finding in found
    )


def _labelled(finding: Finding, alone: Finding | None, seen: str, document: str) -> Finding:
    proved = _proved(alone.obligations if alone is not None else ())
    obligations = tuple(
        replace(o, discharge=Discharge.OBSERVED) if o.discharge is Discharge.PROVED and o.claim not in proved else o
        for o in finding.obligations
    )
    if obligations == (alone.obligations if alone is not None else ()):
        return finding
    return replace(finding, obligations=obligations, region=f"{finding.region}; {seen}, {document}")


def _proved(obligations: Sequence[Obligation]) -> set[str]:
    """The claims that the source alone proves, wherever they are made."""
    left_open = {o.claim for o in obligations if o.discharge is Discharge.ASSUMED}
    return {o.claim for o in obligations if o.discharge is Discharge.PROVED} - left_open
