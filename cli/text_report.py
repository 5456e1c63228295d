"""Findings, obligations, hunks and the summary as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gbfix.cli.outcome import Entry, FileOutcome
from gbfix.cli.terminal import Terminal
from gbfix.engine.model import Discharge, Finding, Obligation, Safety
from gbfix.engine.paths import printable

_STYLES = {
    Discharge.PROVED: "green",
    Discharge.OBSERVED: "green",
    Discharge.CHECKED: "green",
    Discharge.ASSUMED: "yellow",
    Discharge.VIOLATED: "red",
}
_SAFETY_STYLES = {Safety.SAFE: "green", Safety.UNSAFE: "yellow", Safety.REFUSED: "red"}
_DISCHARGE_WIDTH = 10
_NARROWEST_REASON = 24


def write_file(out: Terminal, file: FileOutcome, *, hunks_of_applied: bool) -> None:
    """All that there is to say about one file that was edited: fixes made, suggestions, refusals.

    `hunks_of_applied` is False when the patch itself goes elsewhere.
    """
    for entry in file.applied:
        _write_finding(out, file.name, entry.finding, "")
        _write_hunk(out, entry if hunks_of_applied else Entry(entry.finding))
    for entry in file.remaining:
        _write_finding(out, file.name, entry.finding, _NOT_APPLIED[entry.finding.safety])
        _write_hunk(out, entry)
    _write_unused(out, file)


def write_scan(out: Terminal, file: FileOutcome) -> None:
    """The findings of one file that was only looked at."""
    for entry in file.remaining:
        _write_finding(out, file.name, entry.finding, "")
        out.line()
    _write_unused(out, file)


def write_entry(out: Terminal, name: str, entry: Entry) -> None:
    """One fix with its obligations and its hunk."""
    _write_finding(out, name, entry.finding, "")
    _write_hunk(out, entry)


def write_problems(out: Terminal, problems: Sequence[str]) -> None:
    """One line for each problem."""
    for problem in problems:
        out.line(f"{out.paint('error:', 'red')} {problem}")


_NOT_APPLIED = {
    Safety.SAFE: "not applied",
    Safety.UNSAFE: "only a suggestion, not applied",
    Safety.REFUSED: "",
}


def _write_finding(out: Terminal, name: str, finding: Finding, note: str) -> None:
    safety = out.paint(finding.safety.value, _SAFETY_STYLES[finding.safety])
    place = out.paint(f"{printable(Path(name))}:{finding.span.line}:{finding.span.column + 1}", "bold")
    out.line(f"{place}  {finding.code} {finding.name}   {safety}{f' ({note})' if note else ''}")
    _write_wrapped(out, "  ", f"{finding.message} in {finding.function}, compiled: {finding.region}", 2)
    width = max((len(obligation.claim) for obligation in finding.obligations), default=0)
    for obligation in finding.obligations:
        _write_obligation(out, obligation, width)
    if finding.advice:
        _write_wrapped(out, f"  {'advice':{_DISCHARGE_WIDTH}}", finding.advice, 2 + _DISCHARGE_WIDTH)


def _write_obligation(out: Terminal, obligation: Obligation, width: int) -> None:
    """Aligned columns: how it was met, the claim, the reason. Where no room is left the reason goes under the claim."""
    word = obligation.discharge.value
    start = f"  {out.paint(word, _STYLES[obligation.discharge])}{' ' * (_DISCHARGE_WIDTH - len(word))}"
    reason = f"{obligation.reason} (line {obligation.line})" if obligation.line else obligation.reason
    column = 2 + _DISCHARGE_WIDTH + width + 2
    if _columns(out) - column < _NARROWEST_REASON:
        _write_wrapped(out, start, obligation.claim, 2 + _DISCHARGE_WIDTH)
        _write_wrapped(out, " " * (4 + _DISCHARGE_WIDTH), reason, 4 + _DISCHARGE_WIDTH)
    else:
        _write_wrapped(out, f"{start}{obligation.claim:{width}}  ", reason, column)


def _write_wrapped(out: Terminal, start: str, text: str, indent: int) -> None:
    """Write `start`, which is `indent` wide on the screen, and the text, further lines under the text."""
    from textwrap import wrap  # slow to load, and needed only where something was found

    lines = wrap(text, max(_columns(out) - indent, 1), break_on_hyphens=False)
    for number, line in enumerate(lines or [""]):
        out.line((" " * indent if number else start) + line)


def _columns(out: Terminal) -> int:
    """Lines in a pipe are never wrapped, so that they can be searched."""
    if not out.is_terminal:
        return 100_000
    from shutil import get_terminal_size  # slow to load

    return get_terminal_size().columns


def _write_hunk(out: Terminal, entry: Entry) -> None:
    """The changed lines of an entry's diff; the header with the file names is left away."""
    colours = {"@": "cyan", "-": "red", "+": "green"}
    lines = entry.diff.split("\n")
    first = next((number for number, line in enumerate(lines) if line.startswith("@@")), len(lines))
    for line in lines[first:]:
        style = colours.get(line[:1])
        text = line.rstrip("\r")
        if text:
            out.line(out.paint(text, style) if style else text)
    out.line()


def _write_unused(out: Terminal, file: FileOutcome) -> None:
    for line in file.unused_suppressions:
        out.line(f"{printable(Path(file.name))}:{line}: note: this suppression comment silences nothing; remove it")
