"""Where each part of a report goes.

Standard output in a pipe carries exactly one thing: the patch of a dry run, the fixed program, or the JSON
document. All else then goes to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import replace

from gbfix.cli.failure import FAILED, FINDINGS_REMAIN
from gbfix.cli.outcome import Entry, FileOutcome, Outcome
from gbfix.cli.output_format import OutputFormat
from gbfix.cli.summary import apply_line, no_region_hint, scan_line, summarize
from gbfix.cli.terminal import Terminal, open_terminal
from gbfix.cli.text_report import write_file, write_problems, write_scan
from gbfix.engine.files import encode_source
from gbfix.engine.model import Safety


def print_scan(outcome: Outcome, output_format: OutputFormat) -> None:
    """Report what a scan found."""
    if output_format is OutputFormat.JSON:
        from gbfix.cli.json_report import json_report  # a scan for people needs none of it

        _print_bytes(json_report(outcome))
    else:
        out = open_terminal(sys.stdout)
        for file in outcome.files:
            write_scan(out, file)
        out.line(scan_line(summarize(outcome)))
        _print_region_hint(out, outcome)
    _print_problems(outcome)


class ApplyReport:
    """The report of `gbfix apply`; `out` is the stream for its text.

    `asked` are the kinds of fixes that the user was asked about one by one: these were shown already.
    """

    def __init__(
        self,
        output_format: OutputFormat,
        *,
        dry_run: bool,
        keeps_files: bool,
        program_wanted: bool,
        asked: Collection[Safety],
    ) -> None:
        self._json = output_format is OutputFormat.JSON
        self._keeps_files = keeps_files
        self._asked = asked
        self._program_wanted = program_wanted and not self._json
        self._patch_wanted = dry_run and not self._json and not sys.stdout.isatty()
        data_on_stdout = self._json or self._program_wanted or self._patch_wanted
        self.out = open_terminal(sys.stderr if data_on_stdout else sys.stdout)

    def print(self, outcome: Outcome, hint: str | None) -> None:
        """Print what was done, or would be: the data to standard output, the text to `out`, the problems last.

        `hint` ends the text: what the user can do next.
        """
        # A scan needs none of these, which take a while to load.
        from gbfix.cli.json_report import json_report
        from gbfix.cli.patch import patch_of

        if self._json:
            _print_bytes(json_report(outcome, patch_of(outcome.files)))
        else:
            self._print_text(outcome, hint)
        if self._patch_wanted:
            _print_bytes(patch_of(outcome.files))
        if self._program_wanted:
            _print_bytes(b"".join(encode_source(file.source, file.after) for file in outcome.files))
        _print_problems(outcome)

    def _print_text(self, outcome: Outcome, hint: str | None) -> None:
        for file in outcome.files:
            write_file(self.out, self._without_asked(file), hunks_of_applied=not self._patch_wanted)
        self.out.line(apply_line(summarize(outcome), dry_run=self._keeps_files, asked=self._asked))
        _print_region_hint(self.out, outcome)
        if hint:
            self.out.line(hint)

    def _without_asked(self, file: FileOutcome) -> FileOutcome:
        remaining = (entry for entry in file.remaining if entry.finding.safety not in self._asked)
        return replace(file, applied=() if self._asked else file.applied, remaining=tuple(remaining))


def at_lines_before(outcome: Outcome) -> Outcome:
    """The outcome of a run that writes nothing, with each remaining finding at its line in the file as it is."""
    return replace(outcome, files=tuple(map(_at_lines_before, outcome.files)))


def exit_with_code(outcome: Outcome, *, would_change: bool = False, exit_zero: bool) -> None:
    """End with 2 after problems, 1 when findings remain or (with `would_change`) files would change, else normally."""
    summary = summarize(outcome)
    if outcome.problems:
        sys.exit(FAILED)
    if (summary.remaining or (would_change and summary.changed_files)) and not exit_zero:
        sys.exit(FINDINGS_REMAIN)


def _at_lines_before(file: FileOutcome) -> FileOutcome:
    from gbfix.cli.positions import moved

    before, after = file.source.text, file.after
    remaining = (Entry(moved(entry.finding, after, before), entry.diff) for entry in file.remaining)
    return replace(file, remaining=tuple(remaining))


def _print_region_hint(out: Terminal, outcome: Outcome) -> None:
    for note in outcome.notes:
        out.line(f"note: {note}")
    hint = no_region_hint(summarize(outcome))
    if hint:
        out.line(hint)


def _print_problems(outcome: Outcome) -> None:
    sys.stdout.flush()
    write_problems(open_terminal(sys.stderr), outcome.problems)


def _print_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
