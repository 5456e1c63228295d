"""The report of `gbfix trace` as one JSON document. Its layout changes only together with VERSION."""

from __future__ import annotations

import json
from dataclasses import asdict

from gbfix.cli.evidence_advice import Remedy
from gbfix.cli.evidence_rows import BreakRow, EvidenceReport, RecompileRow
from gbfix.evidence.cost import break_cost
from gbfix.evidence.model import Cost, Place

VERSION = 1


def evidence_json(report: EvidenceReport) -> bytes:
    """All rows, in the order of their rank, with totals and problems.

    Files are named as seen from the current folder; lines are 1-based, columns 0-based characters, ends exclusive.
    A total that the source of the evidence does not tell is null.
    """
    evidence = report.evidence
    document = {
        "version": VERSION,
        "mode": evidence.mode,
        "command": list(evidence.command),
        "exit_status": evidence.exit_status,
        "complete": evidence.complete,
        "torch": sorted({process.torch for process in evidence.processes if process.torch}),
        "totals": asdict(report.totals),
        "breaks": [_break(report, row) for row in report.breaks],
        "recompiles": [_recompile(report, row) for row in report.recompiles],
        "recompiles_to_leave_alone": [_recompile(report, row) for row in report.settled],
        "problems": list(report.problems),
    }
    return json.dumps(document, indent=2).encode() + b"\n"


def _break(report: EvidenceReport, row: BreakRow) -> dict[str, object]:
    site = row.site
    return {
        "rank": row.rank,
        "place": _place(report, site.place),
        "called_from": _place(report, site.project),
        "source": site.source,
        "gb": site.gb,
        "kind": site.kind,
        "other_ids": list(site.others),
        "explanation": site.explanation,
        "skipped_frame": site.skipped_frame,
        "fullgraph": site.fullgraph,
        "first_shape": site.first_shape,
        "events": site.events,
        "calls": site.calls,
        "fragments": site.fragments,
        "entries": list(site.entries),
        "ranks": list(site.ranks),
        "cost": {"text": row.cost, "total": break_cost(site), **_cost(site.cost)},
        "remedy": _remedy(row.remedy),
    }


def _recompile(report: EvidenceReport, row: RecompileRow) -> dict[str, object]:
    found = row.found
    return {
        "rank": row.rank or None,
        "place": _place(report, found.owner or found.place),
        "compiled": _place(report, found.place),
        "source": found.source,
        "kind": found.kind,
        "guard": found.guard,
        "source_name": found.source_name,
        "values": list(found.values),
        "count": found.count,
        "limit_hit": found.limit_hit,
        "entries": list(found.entries),
        "ranks": list(found.ranks),
        "cost": {"text": row.cost, **_cost(found.cost)},
        "remedy": _remedy(row.remedy),
    }


def _place(report: EvidenceReport, place: Place | None) -> dict[str, object] | None:
    return None if place is None else {**asdict(place), "file": report.file(place)}


def _cost(cost: Cost) -> dict[str, object]:
    return {**asdict(cost), "hits": cost.hits}


def _remedy(remedy: Remedy) -> dict[str, object]:
    return asdict(remedy)
