"""Where the report of `gbfix trace` goes.

The program's own output comes first and stays clean: text goes to standard error after it, and the formats for
other programs to standard output. Where nothing was run, everything goes to standard output.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from gbfix.cli.evidence_github import evidence_github
from gbfix.cli.evidence_json import evidence_json
from gbfix.cli.evidence_rows import EvidenceReport
from gbfix.cli.evidence_text import write_evidence
from gbfix.cli.report_format import ReportFormat
from gbfix.cli.terminal import Terminal, open_terminal
from gbfix.engine.model import WriteError
from gbfix.engine.paths import printable


def print_report(
    report: EvidenceReport, output_format: ReportFormat, *, top: int, output: Path | None, was_run: bool
) -> None:
    """Write the report in its format to its place. Raises WriteError."""
    if output is not None:
        _write(output, _data(report, output_format, top))
    elif output_format is ReportFormat.TEXT:
        sys.stdout.flush()
        write_evidence(open_terminal(sys.stderr if was_run else sys.stdout), report, top=top)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(_data(report, output_format, top))
        sys.stdout.buffer.flush()


def _data(report: EvidenceReport, output_format: ReportFormat, top: int) -> bytes:
    if output_format is ReportFormat.JSON:
        return evidence_json(report)
    if output_format is ReportFormat.GITHUB:
        return evidence_github(report, top=top)
    text = io.StringIO()
    write_evidence(Terminal(text, is_terminal=False, colours=False), report, top=top)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise WriteError(f"{printable(path)}: the report cannot be written: {error.strerror}") from error
