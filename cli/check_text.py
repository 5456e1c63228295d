"""The report of `gbfix check` as text: for each target the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shutil import get_terminal_size
from statistics import median
from textwrap import wrap

from gbfix.cli.check_run import counterexample_file
from gbfix.cli.names import display_name
from gbfix.cli.terminal import Terminal
from gbfix.equivalence.model import (
    Bench,
    BranchReached,
    CheckReport,
    Counterexample,
    Counts,
    Difference,
    Mode,
    Status,
    Timing,
    Verdict,
)

_STYLES = {Status.EQUAL: "green", Status.CLOSE: "green", Status.DIFFERENT: "red", Status.NOT_TESTED: "yellow"}
_STATUS = 12
_INDENT = 2
_LABEL = 10
_NAME = 24
_FIGURE = 14
_NARROW_NAME = 18
_NARROW_FIGURE = 10
_DIFFERENCES_SHOWN = 8
_NOT_TRIED = "not tried"
"""How the text begins where there was nothing to compile with fullgraph=True (see `pytest_runs`)."""


def write_check(out: Terminal, report: CheckReport, nothing: str) -> None:
    """Write the whole report. nothing: what to say when there was nothing to check."""
    writer = _Writer(out, Path(report.root))
    for number, verdict in enumerate(report.verdicts):
        if number:
            out.line()
        writer.verdict(verdict)
    if len(report.verdicts) > 1:
        out.line()
        out.line(_totals(report.verdicts))
    if nothing:
        writer.wrapped("", nothing, 0)


class _Writer:
    def __init__(self, out: Terminal, root: Path) -> None:
        self._out = out
        self._root = root
        # Lines in a pipe are never wrapped, so that they can be searched.
        self._columns = get_terminal_size().columns if out.is_terminal else 100_000

    def verdict(self, verdict: Verdict) -> None:
        """One target."""
        self._head(verdict)
        if verdict.versions:
            self._field("versions", verdict.versions)
        if verdict.fixes:
            self._field("fixes", ", ".join(verdict.fixes))
        if verdict.inputs:
            self._field("inputs", verdict.inputs)
        self._branches(verdict)
        if verdict.counterexample is not None:
            self._counterexample(verdict, verdict.counterexample)
        if verdict.original is not None and verdict.rewritten is not None:
            self._counts(verdict, verdict.original, verdict.rewritten)
        if verdict.baseline:
            self._field(
                "baseline", f"not the fix: the original itself differs when compiled: {verdict.baseline}", "yellow"
            )
        if verdict.bench is not None:
            self._bench(verdict.bench)

    def wrapped(self, start: str, text: str, indent: int) -> None:
        """Write `start`, which is `indent` wide on the screen, and the text, further lines under the text."""
        width = max(self._columns - indent, 20)
        lines = wrap(" ".join(text.split()), width, break_on_hyphens=False, break_long_words=False)
        for number, line in enumerate(lines or [""]):
            self._out.line((" " * indent if number else start) + line)

    def _head(self, verdict: Verdict) -> None:
        status = self._out.paint(f"{verdict.status.value:{_STATUS}}", _STYLES[verdict.status])
        earlier = " (checked earlier)" if verdict.earlier else ""
        name = self._out.paint(verdict.target, "bold")
        if _STATUS + len(verdict.target) + 2 + len(verdict.reason + earlier) <= self._columns:
            self._out.line(f"{status}{name}  {verdict.reason}{earlier}")
        else:
            self._out.line(f"{status}{name}")
            self.wrapped(" " * _STATUS, verdict.reason + earlier, _STATUS)

    def _field(self, label: str, text: str, style: str = "") -> None:
        padded = f"{label:{_LABEL}}"
        start = " " * _INDENT + (self._out.paint(padded, style) if style else padded)
        self.wrapped(start, text, _INDENT + _LABEL)

    def _branches(self, verdict: Verdict) -> None:
        for number, branch in enumerate(verdict.branches):
            condition = branch.condition
            place = f"{display_name(Path(condition.file))}:{condition.line}"
            text = f"{place} `{condition.text}`: {_reached(branch)}"
            self._field("" if number else "branches", text, "yellow" if branch.missing else "")
        # A difference ends the search before its end.
        if verdict.counterexample is None and any(branch.missing for branch in verdict.branches):
            advice = "no input that was tried leads there: give some that do with --inputs, or try --examples 1000"
            if "::" in verdict.target:
                advice = "the test does not lead there: add to it, or check the function itself"
            self._field("", advice)

    def _counterexample(self, verdict: Verdict, found: Counterexample) -> None:
        self._field("call", found.call)
        for difference in found.differences[:_DIFFERENCES_SHOWN]:
            self._difference(difference)
        left = len(found.differences) - _DIFFERENCES_SHOWN
        if left > 0:
            self._field("", f"and {left} more; --output-format json has all")
        if found.depends_on_earlier_calls:
            self._field("", "it did not show in a fresh process: it depends on earlier calls")
        if found.program:
            program = display_name(counterexample_file(self._root, verdict))
            self._field("see it", f"python {program}")

    def _difference(self, difference: Difference) -> None:
        compiled = " when compiled" if difference.mode is Mode.COMPILED else ""
        ulp = f" ({difference.ulp} ULP)" if difference.ulp is not None else ""
        text = f"{difference.subject}{compiled}: {difference.original} -> {difference.rewritten}{ulp}"
        self._field("differs", text, "red")

    def _counts(self, verdict: Verdict, before: Counts, after: Counts) -> None:
        self._row("counts", verdict.backend, ("original", "rewritten"))
        rows = [
            ("graphs", before.graphs, after.graphs),
            ("break sites", len(before.breaks), len(after.breaks)),
            ("recompiles, values", before.recompiles_values, after.recompiles_values),
            ("recompiles, shapes", before.recompiles_shapes, after.recompiles_shapes),
            ("frames skipped", before.skipped_frames, after.skipped_frames),
            ("limit hits", before.limit_hits, after.limit_hits),
        ]
        for name, first, second in rows:
            self._row("", name, (str(first), str(second)), changed=first != second)
        self._row("", "fullgraph=True", (_works(before), _works(after)), changed=before.fullgraph != after.fullgraph)
        for name, counts in (("original", before), ("rewritten", after)):
            for text in (counts.raised, counts.fullgraph_error):
                if text and (counts is after or text == counts.raised) and not text.startswith(_NOT_TRIED):
                    self._field("", f"{name}: {text}")

    def _row(self, label: str, name: str, figures: Sequence[str], *, changed: bool = False) -> None:
        start, figure_width = f"{' ' * _INDENT}{label:{_LABEL}}{name:{_NAME}}", _FIGURE
        if self._columns < len(start) + len(figures) * _FIGURE:
            start, figure_width = f"{' ' * _INDENT}{f'{label} {name}'.strip():{_NARROW_NAME}}", _NARROW_FIGURE
        texts = "".join(f"{figure:>{figure_width}}" for figure in figures)
        self._out.line(start + (self._out.paint(texts, "bold") if changed else texts))

    def _bench(self, bench: Bench) -> None:
        self._row("bench", bench.device, ("original", "rewritten"))
        before, after = bench.original, bench.rewritten
        self._row("", "cold start", (_time(before.cold_start), _time(after.cold_start)))
        self._row("", "steady state", (_steady(before), _steady(after)))
        if before.kernels is not None and after.kernels is not None:
            unit = "operators" if bench.device == "cpu" else "kernels"
            self._row("", f"{unit} per call", (str(before.kernels), str(after.kernels)))
        noise = "within noise" if bench.within_noise else ("faster" if bench.ratio < 1 else "slower")
        text = f"rewritten / original {bench.ratio:.2f} ({bench.low:.2f} to {bench.high:.2f}): {noise}"
        self._field("", text)


def _reached(branch: BranchReached) -> str:
    if branch.condition.needs == "run":
        return f"ran {branch.true}" if branch.true else "never run"
    if not branch.true and not branch.false:
        return "never evaluated"
    missing = " and ".join(str(outcome).lower() for outcome in branch.missing)
    return f"true {branch.true}, false {branch.false}" + (f"; never {missing}" if missing else "")


def _totals(verdicts: Sequence[Verdict]) -> str:
    counted = [(status, sum(verdict.status is status for verdict in verdicts)) for status in Status]
    return f"{len(verdicts)} targets: " + ", ".join(f"{count} {status.value}" for status, count in counted if count)


def _works(counts: Counts) -> str:
    if counts.fullgraph_error.startswith(_NOT_TRIED):
        return _NOT_TRIED
    return "works" if counts.fullgraph else "fails"


def _steady(timing: Timing) -> str:
    return _time(median(timing.steady)) if timing.steady else "-"


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"
