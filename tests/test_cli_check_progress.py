from __future__ import annotations

import io
import sys

import pytest
from verdicts import EQUAL

from gbfix.cli.check_progress import check_progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _work() -> None:
    with check_progress(["model:[bold]f", "model:g"]) as progress:
        progress.advance(0, "loading", 0, 0)
        progress.advance(0, "examples", 3, 100)
        progress.advance(1, "[red]counts", 0, 1)
        progress.done(0, EQUAL)
        progress.done(1, EQUAL)


def test_in_a_pipe_there_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    _work()
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_what_each_check_does(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with check_progress(["model:[bold]f"]) as progress:
        progress.advance(0, "[red]examples", 3, 100)
        progress._bars.refresh()  # type: ignore[attr-defined]
        assert "model:[bold]f" in terminal.getvalue()
        assert "3/100" in terminal.getvalue()
        assert "[red]examples" in terminal.getvalue()
        progress.done(0, EQUAL)
    assert "1/1" in terminal.getvalue()
    assert terminal.getvalue().rstrip().endswith("\x1b[2K")  # nothing of it stays


def test_all_of_it_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Terminal())
    _work()
