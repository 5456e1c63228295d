"""Where the report of `gbfix check` goes, and the exit status that it means."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import msgspec
import typer

from gbfix.cli.check_github import check_github
from gbfix.cli.check_run import is_equal
from gbfix.cli.check_text import write_check
from gbfix.cli.evidence_target import check_writable
from gbfix.cli.failure import FINDINGS_REMAIN
from gbfix.cli.report_format import ReportFormat
from gbfix.cli.terminal import Terminal, open_terminal
from gbfix.engine.model import ConfigurationError, WriteError
from gbfix.engine.paths import printable
from gbfix.equivalence.model import CheckReport


def check_report_files(output: Path | None, write_test: Path | None) -> None:
    """Raise WriteError or ConfigurationError for files that could not be written when all checks are done."""
    if output is not None:
        check_writable(output, "--output check.txt")
    if write_test is None:
        return
    if write_test.suffix != ".py" or write_test.is_dir():
        raise ConfigurationError(f"--write-test {printable(write_test)}: name a Python file: tests/test_NAME.py")
    from gbfix.equivalence.write_test import require_ours

    require_ours(write_test)


def print_report(report: CheckReport, output_format: ReportFormat, output: Path | None, *, nothing: str) -> None:
    """Write the report in its format to standard output or a file. nothing: said when there was nothing to check.

    Raises WriteError.
    """
    if output is not None:
        try:
            output.write_bytes(_data(report, output_format, nothing))
        except OSError as error:
            raise WriteError(f"{printable(output)}: the report cannot be written: {error.strerror}") from error
    elif output_format is ReportFormat.TEXT:
        write_check(open_terminal(sys.stdout), report, nothing)
    else:
        sys.stdout.buffer.write(_data(report, output_format, nothing))
        sys.stdout.buffer.flush()


def exit_with_code(report: CheckReport, *, exit_zero: bool) -> None:
    """End with 1 when a version differs, a target was not tested or a side not reached, else normally."""
    if not all(map(is_equal, report.verdicts)) and not exit_zero:
        raise typer.Exit(FINDINGS_REMAIN)


def _data(report: CheckReport, output_format: ReportFormat, nothing: str) -> bytes:
    if output_format is ReportFormat.JSON:
        return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"
    if output_format is ReportFormat.GITHUB:
        return check_github(report, nothing)
    text = io.StringIO()
    write_check(Terminal(text, is_terminal=False, colours=False), report, nothing)
    return text.getvalue().encode("utf-8", "backslashreplace")
