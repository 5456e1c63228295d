"""The end of `gbfix fix`: the diff with its reasons, verdicts, figures before and after, and what remains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from gbfix.cli.check_text import write_check
from gbfix.cli.evidence_advice import break_remedy
from gbfix.cli.evidence_findings import find
from gbfix.cli.evidence_rows import BreakRow, EvidenceReport, RecompileRow, evidence_report
from gbfix.cli.evidence_text import write_rows
from gbfix.cli.fix_figures import Figures, figures_of
from gbfix.cli.fix_loop import DOCUMENT, Fixed, Wishes
from gbfix.cli.fix_write import Planned
from gbfix.cli.recompile_advice import remedy_with_fix
from gbfix.cli.terminal import Terminal
from gbfix.cli.text_report import write_file
from gbfix.engine.dataclass import dataclass
from gbfix.equivalence.model import CheckReport

_Row = TypeVar("_Row", BreakRow, RecompileRow)

_NAME, _FIGURE = 26, 12


@dataclass(frozen=True)
class FixReport:
    """All that is said at the end. files: what shall change. remaining: the last run, with the reason for each row."""

    fixed: Fixed
    files: Planned
    remaining: EvidenceReport
    seconds: float
    root: str

    @property
    def fixes(self) -> int:
        """How many fixes there are."""
        return sum(len(file.applied) for file in self.files.files)

    @property
    def is_done(self) -> bool:
        """True when nothing is left that somebody should look at."""
        return not self.remaining.breaks and not self.remaining.recompiles and not self.fixed.ended


def remaining_of(fixed: Fixed, wishes: Wishes) -> EvidenceReport:
    """What the last run still showed, with what the rules say of it in the light of all checks and runs."""
    evidence = fixed.after.evidence
    found = find(evidence, wishes.rules, DOCUMENT, wishes.preferences, fixed.texts.read, fixed.review)
    report = evidence_report(
        evidence,
        partial(break_remedy, evidence, found, ()),
        partial(remedy_with_fix, evidence, found, ()),
        found.problems,
    )
    return replace(
        report,
        breaks=tuple(map(_without_commands, report.breaks)),
        recompiles=tuple(map(_without_commands, report.recompiles)),
    )


def write_report(out: Terminal, report: FixReport, *, hunks: bool, top: int) -> None:
    """Write it all. hunks: False when the patch itself goes elsewhere."""
    for file in report.files.files:
        write_file(out, file, hunks_of_applied=hunks)
    if report.fixed.verdicts:
        out.line(out.paint("Checks", "bold"))
        write_check(out, CheckReport(report.root, verdicts=report.fixed.verdicts), "")
        out.line()
    _write_figures(out, figures_of(report.fixed.before.evidence), figures_of(report.fixed.after.evidence))
    write_rows(out, report.remaining, top=top)
    notes = (*report.fixed.notes, *report.remaining.problems)
    if notes:
        out.line()
    for note in notes:
        out.line(f"{out.paint('note:', 'yellow')} {note}")
    out.line()
    out.line(_summary(report))


def _write_figures(out: Terminal, before: Figures, after: Figures) -> None:
    rows = [
        ("graphs", before.graphs, after.graphs),
        ("break sites", before.sites, after.sites),
        ("  of these kinds", ", ".join(before.kinds) or "-", ", ".join(after.kinds) or "-"),
        ("breaks met per call", f"{before.hits:.1f}", f"{after.hits:.1f}"),
        ("functions left to Python", before.in_python, after.in_python),
        ("recompiles", before.recompiles, after.recompiles),
        ("recompile limit reached", before.limit_hits, after.limit_hits),
    ]
    width = max(_FIGURE, *(len(str(first)) + 2 for _, first, _ in rows))
    out.line(out.paint(f"{'The program':{_NAME}}{'before':>{width}}{'after':>{_FIGURE}}", "bold"))
    for name, first, second in rows:
        text = f"{first!s:>{width}}{second!s:>{_FIGURE}}"
        out.line(f"{name:{_NAME}}" + (out.paint(text, "bold") if first != second else text))


def _summary(report: FixReport) -> str:
    fixed, count = report.fixed, report.fixes
    made = f"{count} fix{'' if count == 1 else 'es'} in {_files(report.files)}" if count else "nothing to fix"
    left = len(report.remaining.breaks)
    parts = [
        made,
        f"{left} graph break{'' if left == 1 else 's'} left" if left else "no graph break left",
        f"{fixed.rounds} round{'' if fixed.rounds == 1 else 's'}",
        f"{report.seconds:.0f} s",
    ]
    return ", ".join(parts) + (f"; ended early: {fixed.ended}" if fixed.ended else "")


def _files(files: Planned) -> str:
    def counted(some: Sequence[object], what: str) -> str:
        return f"{len(some)} {what}file{'' if len(some) == 1 else 's'}"

    parts = [counted(files.own, "")] if files.own else []
    return " and ".join([*parts, counted(files.installed, "installed ")] if files.installed else parts)


def _without_commands(row: _Row) -> _Row:
    """What to run is nothing to say after it was run."""
    return replace(row, remedy=replace(row.remedy, commands=())) if row.remedy.rule else row
