from __future__ import annotations

from pathlib import Path

import pytest
import typer

from gbfix.cli.observed_run import ending_like, evidence_of_run, journal_folder
from gbfix.engine.model import GbfixError
from gbfix.evidence.launch import ExitStatus


@pytest.mark.parametrize(("of_program", "expected"), [(0, 2), (3, 3), (137, 137)])
@pytest.mark.parametrize("error", [GbfixError("x.json: full"), OSError("disk"), KeyError("a bug")])
def test_a_failure_after_the_run_is_one_line_and_keeps_the_status_of_a_failed_program(
    capsys: pytest.CaptureFixture[str], error: Exception, of_program: int, expected: int
) -> None:
    with pytest.raises(typer.Exit) as ended, ending_like(of_program):
        raise error
    assert ended.value.exit_code == expected
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")


def test_a_run_without_notes_is_told_and_a_signal_named(tmp_path: Path) -> None:
    evidence = evidence_of_run(tmp_path, tmp_path, ("x",), ExitStatus(137, "SIGKILL"), 0.0)
    assert (evidence.command, evidence.exit_status) == (("x",), 137)
    assert "SIGKILL" in evidence.problems[0]
    assert any("nothing was recorded" in problem for problem in evidence.problems)


def test_the_folder_of_the_notes_goes_away() -> None:
    with journal_folder() as folder:
        (folder / "7.jsonl").touch()
    assert not folder.exists()
