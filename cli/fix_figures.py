"""What became of graphs, breaks and recompiles from one run to the next."""

from __future__ import annotations

from gbfix.engine.dataclass import dataclass
from gbfix.evidence.fragments import left_to_python
from gbfix.evidence.model import Evidence
from gbfix.evidence.recompiles import given_up


@dataclass(frozen=True)
class Figures:
    """Counts of one run. hits: breaks met per call of the compiled functions once they were warm."""

    graphs: int
    sites: int
    kinds: tuple[str, ...]
    hits: float
    in_python: int
    recompiles: int
    limit_hits: int


def figures_of(evidence: Evidence) -> Figures:
    """Count what a run showed."""
    steady = [site.cost for site in evidence.breaks if site.cost.steady]
    return Figures(
        graphs=sum(fragment.graph for fragment in evidence.fragments),
        sites=len(evidence.breaks),
        kinds=tuple(sorted({site.gb or site.kind for site in evidence.breaks})),
        hits=sum(cost.hits_per_call for cost in steady),
        in_python=len(left_to_python(evidence.fragments)),
        recompiles=sum(row.count for row in evidence.recompiles),
        limit_hits=len(given_up(evidence.recompiles)),
    )


def worse(before: Evidence, after: Evidence) -> str:
    """In which way a run is worse than the one before, in words; empty when it is not.

    A fix may uncover the next break of a function that ran in Python until then, and what was never compiled is
    compiled again at the first change of a size: neither counts.
    """
    old, new = figures_of(before), figures_of(after)
    if before.complete and not after.complete:
        return "the program no longer ends in order"
    if new.limit_hits > old.limit_hits:
        return "PyTorch gives up on a function after too many recompiles"
    if new.in_python > old.in_python:
        return f"{new.in_python} functions are left to Python instead of {old.in_python}"
    if new.in_python == old.in_python and new.sites > old.sites and new.graphs >= old.graphs:
        return f"there are {new.sites} break sites instead of {old.sites}"
    compiled_now = _compiled(after) - _compiled(before)
    if new.recompiles > old.recompiles + len(compiled_now):
        return f"there are {new.recompiles} recompiles instead of {old.recompiles}"
    return ""


def _compiled(evidence: Evidence) -> set[tuple[str, str]]:
    return {(fragment.place.file, fragment.place.function) for fragment in evidence.fragments if fragment.graph}
