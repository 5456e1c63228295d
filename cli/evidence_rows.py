"""What the report of `gbfix trace` says, as data: totals, ranked breaks and recompiles. Its writers only lay it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gbfix.cli.evidence_advice import Remedy
from gbfix.cli.evidence_places import absolute_path
from gbfix.cli.names import display_name
from gbfix.engine.dataclass import dataclass
from gbfix.evidence.cost import ranked_breaks, ranked_recompiles
from gbfix.evidence.fragments import left_to_python
from gbfix.evidence.model import Break, Cost, Evidence, Place, Recompile
from gbfix.evidence.recompiles import given_up


@dataclass(frozen=True)
class Totals:
    """How much there was of everything. None: the source of the evidence does not tell.

    frames_skipped: functions that Dynamo gave up on, without those that hold nothing to compile. safe, unsafe: breaks
    that gbfix would fix.
    """

    functions: int | None
    graphs: int | None
    sites: int
    kinds: int
    recompiles: int
    frames_skipped: int | None
    limit_hits: int
    safe: int
    unsafe: int


@dataclass(frozen=True)
class BreakRow:
    """One break with its rank and what to do about it."""

    rank: int
    site: Break
    cost: str
    remedy: Remedy


@dataclass(frozen=True)
class RecompileRow:
    """One recompile with its rank and what to do about it."""

    rank: int
    found: Recompile
    cost: str
    remedy: Remedy


@dataclass(frozen=True)
class EvidenceReport:
    """The whole report. `settled` are recompiles that need nothing: they are no problem and have no rank."""

    evidence: Evidence
    totals: Totals
    breaks: tuple[BreakRow, ...]
    recompiles: tuple[RecompileRow, ...]
    settled: tuple[RecompileRow, ...]
    problems: tuple[str, ...]

    def name(self, place: Place) -> str:
        """The place as a terminal makes it clickable: file:line:column, the file as seen from the current folder."""
        column = "" if place.column is None else f":{place.column + 1}"
        return f"{self.file(place)}:{place.line}{column}"

    def file(self, place: Place) -> str:
        """The file of a place as seen from the current folder."""
        return display_name(absolute_path(self.evidence, place.file))


def evidence_report(
    evidence: Evidence,
    break_remedy: Callable[[Break], Remedy],
    recompile_remedy: Callable[[Recompile], Remedy],
    problems: tuple[str, ...] = (),
) -> EvidenceReport:
    """Rank the evidence and put each remedy beside its row. `problems` are those met while looking for remedies."""
    breaks = tuple(
        BreakRow(rank, site, break_cost_text(evidence, site), break_remedy(site))
        for rank, site in enumerate(ranked_breaks(evidence), start=1)
    )
    found = [(row, recompile_remedy(row)) for row in ranked_recompiles(evidence)]
    open_rows = [(row, remedy) for row, remedy in found if not remedy.settled]
    settled = [(row, remedy) for row, remedy in found if remedy.settled]
    return EvidenceReport(
        evidence,
        _totals(evidence, breaks),
        breaks,
        tuple(RecompileRow(rank, row, recompile_cost_text(row), r) for rank, (row, r) in enumerate(open_rows, start=1)),
        tuple(RecompileRow(0, row, recompile_cost_text(row), remedy) for row, remedy in settled),
        (*evidence.problems, *problems),
    )


def break_cost_text(evidence: Evidence, site: Break) -> str:
    """What a break costs, in words."""
    cost = site.cost
    if not cost.steady:
        return _unknown(evidence)
    if not cost.hits_per_call:
        return "start-up only: not hit once the program was warm"
    resumed = f" x {site.fragments} functions to resume" if site.fragments > 1 else ""
    return f"{_hits(cost)}{resumed}{_time(cost)}"


def recompile_cost_text(row: Recompile) -> str:
    """What a recompile costs, in words."""
    times = "compiled once more" if row.count == 1 else f"compiled {row.count} times more"
    if row.limit_hit:
        return f"{times}, then the recompile limit was reached: it runs in Python since"
    return times


def _unknown(evidence: Evidence) -> str:
    if evidence.mode != "run":
        return "not known: saved traces and logs do not count calls"
    if not evidence.complete:
        return "not known: the program did not end in order"
    return "not known: no call was counted after warm-up"


def _hits(cost: Cost) -> str:
    hits = "hit" if cost.hits_per_call == 1 else "hits"
    calls = "call" if cost.calls == 1 else "calls"
    return f"{cost.hits_per_call:.1f} {hits} per call x {cost.calls} {calls}"


def _time(cost: Cost) -> str:
    if not cost.seconds_per_call:
        return ""
    return f", {cost.seconds_per_call * 1000:.3g} ms per call until the next break"


def _totals(evidence: Evidence, breaks: Sequence[BreakRow]) -> Totals:
    counted = evidence.mode != "torch_logs"
    return Totals(
        functions=len(evidence.entries) if evidence.mode == "run" else None,
        graphs=sum(fragment.graph for fragment in evidence.fragments) if counted else None,
        sites=len(evidence.breaks),
        kinds=len({site.gb or site.kind for site in evidence.breaks}),
        recompiles=sum(row.count for row in evidence.recompiles),
        frames_skipped=len(left_to_python(evidence.fragments)) if counted else None,
        limit_hits=len(given_up(evidence.recompiles)),
        safe=sum(row.remedy.action == "safe" for row in breaks),
        unsafe=sum(row.remedy.action == "unsafe" for row in breaks),
    )
