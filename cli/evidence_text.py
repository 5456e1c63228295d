"""The report of `gbfix trace` as text: totals, then breaks and recompiles, since these are two problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from textwrap import wrap
from typing import TypeVar

from gbfix.cli.evidence_advice import Remedy
from gbfix.cli.evidence_places import is_library
from gbfix.cli.evidence_rows import BreakRow, EvidenceReport, RecompileRow
from gbfix.cli.evidence_words import kind_of_break, kind_of_recompile, totals_lines
from gbfix.cli.terminal import Terminal
from gbfix.evidence.model import Place

_Row = TypeVar("_Row")

_INDENT = 4
_LABEL = 10
_WAYS_OUT = 2
_STYLES = {"safe": "green", "unsafe": "yellow", "refused": "red", "advice": "cyan", "nothing": "green"}


def write_evidence(out: Terminal, report: EvidenceReport, *, top: int) -> None:
    """Write the whole report; of each list only the first `top` rows, the others are counted."""
    writer = _Writer(out, report)
    for line in totals_lines(report):
        writer.wrapped("", line, 0)
    write_rows(out, report, top=top)
    if report.problems:
        out.line()
    for problem in report.problems:
        writer.wrapped(f"{out.paint('note:', 'yellow')} ", problem, len("note: "))


def write_rows(out: Terminal, report: EvidenceReport, *, top: int) -> None:
    """Write the lists alone."""
    writer = _Writer(out, report)
    writer.rows("Graph breaks", report.breaks, top, writer.write_break)
    writer.rows("Recompiles", report.recompiles, top, writer.write_recompile)
    writer.rows("Recompiles to leave alone", report.settled, top, writer.write_settled)


class _Writer:
    def __init__(self, out: Terminal, report: EvidenceReport) -> None:
        self._out = out
        self._report = report
        self._told: dict[Remedy, int] = {}
        """The rank of the row, by what it says: the same is said once."""
        # Lines in a pipe are never wrapped, so that they can be searched.
        self._columns = get_terminal_size().columns if out.is_terminal else 100_000

    def rows(self, title: str, rows: Sequence[_Row], top: int, write: Callable[[_Row], None]) -> None:
        """One list with its title; nothing for an empty one."""
        if not rows:
            return
        self._out.line()
        self._out.line(self._out.paint(f"{title} ({len(rows)})", "bold"))
        for row in rows[:top]:
            self._out.line()
            write(row)
        if len(rows) > top:
            self._out.line()
            self._out.line(f"  and {len(rows) - top} more; --top {len(rows)} shows all")

    def write_break(self, row: BreakRow) -> None:
        """One graph break: where, what, what it costs, and what to do."""
        site = row.site
        self._head(row.rank, site.place, site.source)
        self._field("kind", kind_of_break(site))
        self._field("cost", row.cost)
        self._entries(site.entries, site.ranks)
        if site.project is not None and is_library(self._report.evidence, site.place):
            self._field("called at", self._at(site.project))
        self._remedy(row.rank, row.remedy)

    def write_recompile(self, row: RecompileRow) -> None:
        """One recompile: what is compiled again, which value made it so, and what to do."""
        self._recompile(row)
        self._remedy(row.rank, row.remedy)

    def write_settled(self, row: RecompileRow) -> None:
        """A recompile that is none of the user's concern: one line of where, one of why."""
        place = self._out.paint(self._report.name(row.found.place), "bold")
        self._out.line(f"  {place}  in {row.found.place.function}")
        self.wrapped(" " * _INDENT, row.remedy.text, _INDENT)

    def _recompile(self, row: RecompileRow) -> None:
        found = row.found
        self._head(row.rank, found.owner or found.place, found.source)
        self._field("kind", kind_of_recompile(found))
        if found.values:
            self._field("values", ", ".join(found.values))
        self._field("cost", row.cost)
        if found.owner is not None and found.owner != found.place:
            self._field("compiled", self._at(found.place))
        self._entries(found.entries, found.ranks)

    def _head(self, rank: int, place: Place, source: str) -> None:
        function = f"  in {place.function}" if place.function else ""
        self._out.line(f"{rank:2}. {self._out.paint(self._report.name(place), 'bold')}{function}")
        if source.strip():
            self._out.line(f"{' ' * _INDENT}{self._out.paint(source.strip(), 'cyan')}")

    def _at(self, place: Place) -> str:
        return f"{self._report.name(place)}{f' in {place.function}' if place.function else ''}"

    def _entries(self, entries: Sequence[str], ranks: Sequence[int]) -> None:
        if entries:
            self._field("entry", ", ".join(entries))
        if ranks and len(ranks) < len({process.rank for process in self._report.evidence.processes} - {None}):
            self._field("ranks", ", ".join(map(str, ranks)))

    def _remedy(self, rank: int, remedy: Remedy) -> None:
        told = self._told.setdefault(remedy, rank)
        if told != rank and remedy.ways_out:
            self._field("gbfix", f"as said of {told}", _STYLES[remedy.action])
            return
        self._field("gbfix", remedy.text, _STYLES[remedy.action])
        for detail in remedy.details:
            self._field("", detail)
        for way in remedy.ways_out[:_WAYS_OUT]:
            self._field("", f"- {way}", hanging=2)
        for command in remedy.commands:
            self._field("", f"$ {command}")

    def _field(self, label: str, text: str, style: str = "", hanging: int = 0) -> None:
        width = _INDENT + _LABEL
        painted = self._out.paint(f"{label:{_LABEL}}", style) if style else f"{label:{_LABEL}}"
        self.wrapped(f"{' ' * _INDENT}{painted}", text, width, hanging)

    def wrapped(self, start: str, text: str, indent: int, hanging: int = 0) -> None:
        """Write `start`, which is `indent` wide on the screen, and the text, further lines under the text."""
        width = max(self._columns - indent, 1)
        rest = " " * hanging
        words = " ".join(text.split())
        lines = wrap(words, width, subsequent_indent=rest, break_on_hyphens=False, break_long_words=False)
        for number, line in enumerate(lines or [""]):
            self._out.line((" " * indent if number else start) + line)
