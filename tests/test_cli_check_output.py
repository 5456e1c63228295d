from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import typer
from verdicts import CLOSE, DIFFERENT, EQUAL, NOT_REACHED, ROOT, UNLOADABLE

from gbfix.cli.check_output import check_report_files, exit_with_code, print_report
from gbfix.cli.report_format import ReportFormat
from gbfix.engine.model import ConfigurationError, WriteError
from gbfix.equivalence.model import CheckReport, Verdict

REPORT = CheckReport(ROOT, verdicts=(CLOSE, DIFFERENT, EQUAL, NOT_REACHED, UNLOADABLE))


def printed(capsysbinary: pytest.CaptureFixture[bytes], output_format: ReportFormat, nothing: str = "") -> str:
    print_report(REPORT, output_format, None, nothing=nothing)
    return capsysbinary.readouterr().out.decode()


def test_json_is_the_document(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    text = printed(capsysbinary, ReportFormat.JSON)
    assert msgspec.json.decode(text, type=CheckReport) == REPORT
    assert [verdict["status"] for verdict in json.loads(text)["verdicts"]][:3] == ["close", "different", "equal"]


def test_github_gets_an_annotation_for_each_target(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    lines = printed(capsysbinary, ReportFormat.GITHUB, "nothing of m:f").splitlines()
    assert [line.split(" ")[0].split("::")[1] for line in lines] == [
        "notice",
        "error",
        "notice",
        "warning",
        "warning",
        "notice",
    ]
    assert lines[1].startswith("::error title=model%3ANet%3A different::value of result differs: 1.0 -> 2.0%0Acall: x=")
    assert lines[2].startswith("::notice file=model.py,line=12,title=model%3Astep%3A equal::100 examples, 12 of")
    assert "3 graphs, 2 break sites, fullgraph=True fails -> 1 graphs" in lines[2]


def test_a_rewrite_without_conditions_is_shown_at_its_fix(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pkg").mkdir()
    monkeypatch.chdir(tmp_path / "pkg")
    report = CheckReport(str(tmp_path), verdicts=(replace(EQUAL, branches=()),))
    print_report(report, ReportFormat.GITHUB, None, nothing="")
    assert capsysbinary.readouterr().out.startswith(b"::notice file=pkg/model.py,line=12,")


@pytest.mark.parametrize("output_format", list(ReportFormat))
def test_a_file_gets_what_standard_output_would(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, output_format: ReportFormat
) -> None:
    expected = printed(capsysbinary, output_format, "nothing")
    print_report(REPORT, output_format, tmp_path / "report", nothing="nothing")
    assert (tmp_path / "report").read_text() == expected
    assert capsysbinary.readouterr().out == b""


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ((), 0),
        ((EQUAL, CLOSE), 0),
        ((EQUAL, DIFFERENT), 1),
        ((UNLOADABLE,), 1),
        ((NOT_REACHED,), 1),
        ((replace(EQUAL, branches=NOT_REACHED.branches),), 1),
    ],
)
def test_the_exit_status(verdicts: tuple[Verdict, ...], code: int) -> None:
    report = CheckReport(ROOT, verdicts=verdicts)
    exit_with_code(report, exit_zero=True)
    if not code:
        exit_with_code(report, exit_zero=False)
        return
    with pytest.raises(typer.Exit) as raised:
        exit_with_code(report, exit_zero=False)
    assert raised.value.exit_code == code


def test_files_that_cannot_be_written_are_found_before_the_checks(tmp_path: Path) -> None:
    check_report_files(tmp_path / "report.txt", tmp_path / "test_it.py")
    with pytest.raises(WriteError, match="no report goes there"):
        check_report_files(tmp_path / "model.py", None)
    with pytest.raises(ConfigurationError, match=r"name a Python file: tests/test_NAME\.py"):
        check_report_files(None, tmp_path / "report.txt")
    with pytest.raises(WriteError, match="the folder does not exist; make it"):
        check_report_files(None, tmp_path / "no" / "test_it.py")
    (tmp_path / "test_mine.py").write_text("def test_it():\n    pass\n")
    with pytest.raises(WriteError, match="is there already and was not written by gbfix"):
        check_report_files(None, tmp_path / "test_mine.py")
