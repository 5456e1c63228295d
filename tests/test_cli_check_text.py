from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from verdicts import BEFORE, CLOSE, CONDITION, DIFFERENT, EQUAL, NOT_REACHED, ROOT, TIMED, UNLOADABLE

from gbfix.cli.check_text import write_check
from gbfix.cli.terminal import Terminal
from gbfix.equivalence.model import CheckReport, Difference, Verdict


def written(*verdicts: Verdict, terminal: bool = False, colours: bool = False, nothing: str = "") -> str:
    out = io.StringIO()
    write_check(Terminal(out, is_terminal=terminal, colours=colours), CheckReport(ROOT, verdicts=verdicts), nothing)
    return out.getvalue()


def test_an_equal_pair_says_what_that_rests_on() -> None:
    assert written(EQUAL).splitlines() == [
        "equal       model:step  100 examples, 12 of them compiled, both sides reached",
        "  versions  original: disk; rewritten: 1 pending fix",
        "  fixes     model.py:12 GBF101",
        "  inputs    14 recorded calls",
        "  branches  /p/model.py:12 `x.sum() > 0`: true 61, false 39",
        "  counts    eager                         original     rewritten",
        "            graphs                               3             1",
        "            break sites                          2             0",
        "            recompiles, values                   1             0",
        "            recompiles, shapes                   2             0",
        "            frames skipped                       1             0",
        "            limit hits                           1             0",
        "            fullgraph=True                   fails         works",
    ]


def test_a_difference_says_how_to_see_it() -> None:
    lines = written(DIFFERENT).splitlines()
    assert lines[:3] == [
        "different   model:Net  value of result differs: 1.0 -> 2.0",
        "  call      x=float32[2] [nan, 1.0]",
        "  differs   value of result: [1.0] -> [2.0] (8388608 ULP)",
    ]
    assert "  differs   dtype of gradient of x when compiled: float32 -> float64" in lines
    assert "  see it    python /p/.gbfix/counterexamples/model.Net.py" in lines
    baseline = "not the fix: the original itself differs when compiled: result: dtype, eager float32, compiled float64"
    assert lines[-1] == f"  baseline  {baseline}"


def test_of_many_differences_the_first_ones() -> None:
    assert DIFFERENT.counterexample is not None
    many = tuple(Difference("value", f"result[{n}]", "1", "2") for n in range(20))
    text = written(replace(DIFFERENT, counterexample=replace(DIFFERENT.counterexample, differences=many)))
    assert text.count("  differs   ") == 8
    assert "and 12 more; --output-format json has all" in text


def test_a_side_that_was_not_reached_says_what_to_do() -> None:
    text = written(NOT_REACHED)
    assert "/p/model.py:12 `x.sum() > 0`: true 100, false 0; never false\n" in text
    assert "give some that do with --inputs" in text
    text = written(replace(NOT_REACHED, target="tests/test_it.py::test_a"))
    assert "the test does not lead there: add to it, or check the function itself" in text
    assert "--inputs" not in text


def test_a_side_that_a_difference_came_before_asks_for_nothing() -> None:
    text = written(replace(DIFFERENT, branches=NOT_REACHED.branches))
    assert "never false" in text
    assert "--inputs" not in text


@pytest.mark.parametrize(
    ("aspect", "where", "said"),
    [
        ("gradient", "gradient of x", "gradient of x"),
        ("dtype", "gradient of x", "dtype of gradient of x"),
        ("messages", "messages [0]", "messages [0]"),
        ("modes", "mode grad_enabled", "mode grad_enabled"),
        ("random", "random torch", "random torch"),
        ("backward", "backward", "backward"),
        ("exception", "call", "exception of call"),
        ("value", "result[1]", "value of result[1]"),
    ],
)
def test_what_differs_is_said_once(aspect: str, where: str, said: str) -> None:
    assert Difference(aspect, where, "1", "2").subject == said


def test_a_condition_of_which_one_side_is_enough() -> None:
    branch = replace(NOT_REACHED.branches[0], condition=replace(CONDITION, needs="true"))
    assert "never" not in written(replace(EQUAL, branches=(branch,)))


def test_what_was_used_again_and_how_large_errors_are() -> None:
    assert written(CLOSE) == "close       model:g  100 examples, largest error 3 ULP (checked earlier)\n"


def test_times_say_whether_the_difference_is_noise() -> None:
    text = written(replace(EQUAL, bench=TIMED))
    assert "            cold start                      1.50 s     250.00 ms\n" in text
    assert "            steady state                   3.00 ms       1.50 ms\n" in text
    assert "            operators per call                   7             3\n" in text
    assert "rewritten / original 0.50 (0.45 to 0.60): faster" in text
    noise = replace(TIMED, within_noise=True, device="cuda", original=replace(TIMED.original, kernels=None))
    text = written(replace(EQUAL, bench=noise))
    assert "): within noise" in text
    assert "per call" not in text


def test_an_error_of_the_rewritten_version_is_shown() -> None:
    text = written(replace(EQUAL, rewritten=replace(BEFORE, raised="ValueError: no")))
    assert "rewritten: Data-dependent branching at model.py:12\n" in text
    assert "rewritten: ValueError: no\n" in text
    assert "original: Data-dependent" not in text


def test_a_test_of_the_project_says_itself_how_it_compiles() -> None:
    counts = replace(BEFORE, fullgraph_error="not tried: a test says itself how it compiles")
    text = written(replace(EQUAL, original=counts, rewritten=counts))
    assert "            fullgraph=True               not tried     not tried\n" in text
    assert "rewritten: " not in text.partition("counts")[2]


def test_totals_where_there_are_several() -> None:
    assert written(EQUAL, UNLOADABLE, NOT_REACHED).endswith("\n\n3 targets: 1 equal, 2 not tested\n")
    assert "targets" not in written(EQUAL)


def test_nothing_to_check() -> None:
    assert written(nothing="nothing to check: no fix") == "nothing to check: no fix\n"


def test_the_figures_fit_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = written(replace(EQUAL, bench=TIMED), terminal=True).splitlines()
    assert max(map(len, lines)) <= 40
    assert "  counts eager        original rewritten" in lines
    assert "  graphs                     3         1" in lines


def test_lines_fit_a_terminal_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    long = replace(EQUAL, bench=TIMED, counterexample=DIFFERENT.counterexample, reason="word " * 40)
    lines = written(long, replace(NOT_REACHED, target="package.module:function_with_a_long_name"), terminal=True)
    assert max(map(len, lines.splitlines())) <= 80
    assert "\n            word word" in lines


def test_colours_and_text_of_programs_that_looks_like_markup() -> None:
    text = written(replace(NOT_REACHED, reason="[bold]x[/bold]"), colours=True)
    assert "\x1b[33mnot tested  \x1b[0m" in text
    assert "[bold]x[/bold]" in text


def test_files_below_the_current_folder_are_named_from_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    branch = replace(NOT_REACHED.branches[0], condition=replace(CONDITION, file=str(tmp_path / "m.py")))
    assert "  branches  m.py:12 `x.sum() > 0`" in written(replace(NOT_REACHED, branches=(branch,)))
