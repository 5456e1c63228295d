from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from evidence_sample import STEADY, branch, call_of_builtin, report, sizes

from gbfix.cli.evidence_rows import EvidenceReport
from gbfix.cli.evidence_text import write_evidence
from gbfix.cli.terminal import Terminal
from gbfix.evidence.model import Break, Cost, Place, Process


def _text(made: EvidenceReport, *, top: int = 20, is_terminal: bool = False, colours: bool = False) -> str:
    stream = io.StringIO()
    write_evidence(Terminal(stream, is_terminal, colours), made, top=top)
    return stream.getvalue()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_row_says_where_what_how_dear_and_what_to_do(root: Path) -> None:
    text = _text(report(root, breaks=(branch("safe.py"),)))
    assert text.splitlines()[6:] == [
        " 1. safe.py:7:5  in f",
        "    if x.sum() > 0:",
        "    kind      GB0170 Data-dependent branching",
        "    cost      2.0 hits per call x 400 calls, 1.5 ms per call until the next break",
        "    entry     f",
        "    gbfix     GBF101 tensor-value-branch, safe: gbfix rewrites it",
        "              $ gbfix apply safe.py",
    ]


def test_totals_come_first(root: Path) -> None:
    text = _text(report(root, breaks=(branch("safe.py"), call_of_builtin()), recompiles=(sizes(count=3),)))
    assert text.splitlines()[:3] == [
        "gbfix trace, PyTorch 2.13.0, exit status 0",
        "2 compiled functions, 0 graphs, 2 break sites of 2 kinds, 3 recompiles",
        "gbfix apply fixes 1 of the breaks",
    ]


def test_breaks_and_recompiles_are_two_lists(root: Path) -> None:
    text = _text(report(root, breaks=(branch("safe.py"),), recompiles=(sizes(count=3),)))
    breaks, recompiles = text.index("Graph breaks (1)"), text.index("Recompiles (1)")
    assert breaks < text.index("safe.py:7:5") < recompiles < text.index("safe.py:6  in f")


def test_what_was_not_found_has_no_list(root: Path) -> None:
    assert _text(report(root)).splitlines()[1:] == [
        "2 compiled functions, 0 graphs, no graph breaks, no recompiles",
    ]


def test_a_recompile_that_needs_nothing_stands_apart(root: Path) -> None:
    text = _text(report(root, recompiles=(sizes(),)))
    assert "Recompiles (" not in text
    assert "Recompiles to leave alone (1)" in text
    assert "later sizes are free" in text


def test_what_was_said_before_is_not_said_again(root: Path) -> None:
    made = report(root, breaks=(call_of_builtin(), replace(call_of_builtin(), place=Place("calls.py", 8))))
    first, second = _text(made).split(" 2. ")
    assert "torch._higher_order_ops.print" in first
    assert "torch._higher_order_ops.print" not in second
    assert second.endswith("    gbfix     as said of 1\n")


def test_rows_beyond_top_are_counted(root: Path) -> None:
    text = _text(report(root, breaks=(branch("safe.py"), branch("refused.py"), call_of_builtin())), top=1)
    assert "and 2 more; --top 3 shows all" in text
    assert " 2. " not in text


def test_problems_are_told(root: Path) -> None:
    assert "note: it was killed" in _text(report(root, problems=("it was killed",)))


def test_lines_fit_the_terminal_and_stay_whole_in_a_pipe(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    made = report(root, breaks=(branch("refused.py"), call_of_builtin()), recompiles=(sizes(count=3),))
    assert max(map(len, _text(made, is_terminal=True).splitlines())) <= 80
    assert max(map(len, _text(made).splitlines())) > 80


def test_colours_only_where_they_are_shown_and_text_of_the_program_is_no_markup(root: Path) -> None:
    site = Break(Place("safe.py", 7), source="[red]x[/red] = y[int]", cost=Cost())
    assert "\x1b[" not in _text(report(root, breaks=(site,)))
    coloured = _text(report(root, breaks=(site,)), is_terminal=True, colours=True)
    assert "\x1b[" in coloured
    assert "[red]x[/red] = y[int]" in coloured


def test_the_place_that_calls_a_library_and_the_ranks_that_saw_it(root: Path) -> None:
    site = Break(Place("/venv/lib/python3.11/site-packages/lib/a.py", 3, "h"), project=Place("safe.py", 10, "f"))
    processes = (Process(1, rank=0), Process(2, rank=1))
    text = _text(report(root, breaks=(site, Break(Place("safe.py", 7), ranks=(1,))), processes=processes))
    assert " 1. /venv/lib/python3.11/site-packages/lib/a.py:3  in h" in text
    assert "called at safe.py:10 in f" in text
    assert "ranks     1\n" in text


def test_what_is_not_known_is_not_given_as_zero(root: Path) -> None:
    made = report(root, mode="torch_logs", breaks=(branch("safe.py", Cost()),))
    assert "graphs" not in _text(made).splitlines()[1]
    assert "cost      not known: saved traces and logs do not count calls" in _text(made)
    assert "start-up only" in _text(report(root, breaks=(branch("safe.py", Cost(steady=True, calls=9)),)))
    assert STEADY.hits == 800
