"""Evidence in words: what the writers of the report share."""

from __future__ import annotations

from gbfix.cli.evidence_rows import EvidenceReport, Totals
from gbfix.evidence.model import Break, Evidence, Recompile
from gbfix.evidence.recompile_kinds import RECOMPILE_KINDS


def kind_of_break(site: Break) -> str:
    """The kind with PyTorch's id, and what it did to the frame."""
    name = " ".join(part for part in (site.gb, site.kind) if part) or "unknown kind"
    also = f", with {', '.join(site.others)}" if site.others else ""
    skipped = "; the whole function runs in Python" if site.skipped_frame else ""
    error = "; an error under fullgraph=True" if site.fullgraph else ""
    late = "" if site.first_shape else "; only when compiled again"
    return f"{name}{also}{skipped}{error}{late}"


def kind_of_recompile(row: Recompile) -> str:
    """The kind with the value that the guard looks at, and the guard."""
    name = RECOMPILE_KINDS.get(row.kind, RECOMPILE_KINDS["other"]).name
    source = f" of {row.source_name}" if row.source_name else ""
    return f"{name}{source} ({row.guard})" if row.guard else f"{name}{source}"


def totals_lines(report: EvidenceReport) -> tuple[str, ...]:
    """What was run, how it ended, how much there was of everything, and how much of it gbfix would fix."""
    lines = (_run(report.evidence), _counts(report.totals, report.evidence.mode), _fixes(report.totals))
    return tuple(filter(None, lines))


def _run(evidence: Evidence) -> str:
    versions = sorted({process.torch for process in evidence.processes if process.torch})
    ranks = {process.rank for process in evidence.processes} - {None}
    parts = [
        "gbfix trace",
        f"PyTorch {', '.join(versions)}" if versions else "",
        f"{len(ranks)} ranks" if len(ranks) > 1 else "",
        _ended(evidence),
        "" if evidence.complete else "incomplete",
    ]
    return ", ".join(part for part in parts if part)


def _ended(evidence: Evidence) -> str:
    if evidence.mode != "run":
        return {"torch_trace": "from TORCH_TRACE files", "torch_logs": "from saved logs"}.get(evidence.mode, "")
    return "" if evidence.exit_status is None else f"exit status {evidence.exit_status}"


def _fixes(totals: Totals) -> str:
    """What `gbfix apply` would do about the breaks; nothing where there is none."""
    if not totals.sites:
        return ""
    if not totals.safe and not totals.unsafe:
        return "gbfix has a fix for none of the breaks; each row says what helps"
    if not totals.unsafe:
        return f"gbfix apply fixes {totals.safe} of the breaks"
    if not totals.safe:
        agree = "when you agree with what it assumes; --check tests it"
        return f"gbfix apply --unsafe fixes {totals.unsafe} of the breaks, {agree}"
    return f"gbfix apply fixes {totals.safe} of the breaks, with --unsafe {totals.unsafe} more; --check tests them"


def _counts(totals: Totals, mode: str) -> str:
    where = " in this log" if mode == "torch_logs" else ""
    sites = f"{count(totals.sites, 'break site')} of {count(totals.kinds, 'kind')}"
    parts = [
        None if totals.functions is None else count(totals.functions, "compiled function"),
        None if totals.graphs is None else count(totals.graphs, "graph"),
        sites if totals.sites else f"no graph breaks{where}",
        count(totals.recompiles, "recompile") if totals.recompiles else f"no recompiles{where}",
        f"{count(totals.frames_skipped, 'function')} left to Python" if totals.frames_skipped else None,
        count(totals.limit_hits, "recompile limit") + " reached" if totals.limit_hits else None,
    ]
    return ", ".join(part for part in parts if part)


def count(number: int, one: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else one + 's'}"
