from __future__ import annotations

import json
from pathlib import Path

import pytest
from evidence_sample import branch, report

from gbfix.cli.evidence_output import print_report
from gbfix.cli.report_format import ReportFormat
from gbfix.engine.model import WriteError


@pytest.mark.parametrize(
    ("output_format", "was_run", "stream"),
    [
        (ReportFormat.TEXT, True, "err"),
        (ReportFormat.TEXT, False, "out"),
        (ReportFormat.JSON, True, "out"),
        (ReportFormat.JSON, False, "out"),
        (ReportFormat.GITHUB, True, "out"),
    ],
)
def test_the_output_of_a_program_that_ran_stays_clean_of_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], output_format: ReportFormat, was_run: bool, stream: str
) -> None:
    print_report(report(tmp_path, breaks=(branch("safe.py"),)), output_format, top=20, output=None, was_run=was_run)
    written = capsys.readouterr()
    assert "safe.py" in getattr(written, stream)
    assert getattr(written, "out" if stream == "err" else "err") == ""


@pytest.mark.parametrize("output_format", list(ReportFormat))
def test_a_report_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], output_format: ReportFormat) -> None:
    made = report(tmp_path, breaks=(branch("safe.py"),))
    file = tmp_path / "report"
    print_report(made, output_format, top=20, output=file, was_run=True)
    assert capsys.readouterr() == ("", "")
    text = file.read_text(encoding="utf-8")
    assert "safe.py" in text
    if output_format is ReportFormat.JSON:
        assert json.loads(text)["version"] == 1


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="cannot be written"):
        print_report(report(tmp_path), ReportFormat.TEXT, top=20, output=tmp_path / "no" / "report", was_run=True)
