from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.analysis.observations import Observation
from gbfix.cli.fix_shown import Shown
from gbfix.engine.model import Finding, Fix, Replacement, Span
from gbfix.evidence.model import Break, Evidence, Place, Recompile


def finding(line: int, function: str, *edited: int) -> Finding:
    replacements = tuple(Replacement(Span(at, 0, at, 4), "new") for at in edited)
    return Finding("GBF101", "n", Span(line, 4, line, 9), "m", function, "r", (), Fix("t", replacements))


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.chdir(tmp_path)
    library = str(tmp_path / "env/lib/python3/site-packages/lib.py")
    evidence = Evidence(
        str(tmp_path),
        breaks=(Break(Place("a.py", 7), stack=(Place("a.py", 30, "main"),)), Break(Place("a.py", 40, end_line=43))),
        recompiles=(Recompile(Place("a.py", 5), "n == 1", owner=Place("a.py", 9)),),
        observations=(Observation("a.py", 6, "Net.forward"), Observation(library, 3, "Layer.forward")),
    )
    return Shown(evidence, {})


@pytest.mark.parametrize("line", [5, 6, 7, 9, 30, 40, 42, 43])
def test_a_line_that_ran_broke_or_was_compiled_again_is_called_for(shown: Shown, line: int) -> None:
    assert shown.calls_for("a.py", finding(line, "Net.forward"))


def test_a_line_that_never_ran_is_not_called_for_though_its_function_did(shown: Shown) -> None:
    assert not shown.calls_for("a.py", finding(8, "Net.forward"))
    assert not shown.calls_for("a.py", finding(44, "Net.forward"))
    assert shown.calls_for("a.py", finding(8, "Net.forward", 9))


def test_of_a_function_of_the_project_without_any_line_nothing_is_known(shown: Shown) -> None:
    assert shown.calls_for("a.py", finding(20, "helper"))


def test_of_an_installed_library_only_lines_that_ran_are_called_for(shown: Shown) -> None:
    name = "env/lib/python3/site-packages/lib.py"
    assert shown.calls_for(name, finding(3, "Layer.forward"))
    assert not shown.calls_for(name, finding(4, "Layer.forward"))
    assert not shown.calls_for(name, finding(20, "other"))


def test_a_line_stands_for_its_whole_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "y = f(\n    1,\n    2,\n)\nif (\n    y\n):\n    z = 1\n"
    observed = (Observation("a.py", 8, "step"),)
    evidence = Evidence(str(tmp_path), breaks=(Break(Place("a.py", 1)), Break(Place("a.py", 5))), observations=observed)
    for texts, lines in (({"a.py": text}, [1, 2, 3, 4, 5, 6, 7, 8]), ({}, [1, 5, 8])):
        shown = Shown(evidence, texts)
        assert [line for line in range(1, 10) if shown.calls_for("a.py", finding(line, "step"))] == lines


def test_a_line_stands_for_those_that_made_what_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = """def step(x, n):
    count = len(x)
    rows = div(count, n)
    if n:
        rows = rows - 1
    other = div(n, 2)
    for row in rows.split(2):
        x = row.reshape(rows + 1)
    return other
"""
    breaks = (Break(Place("a.py", 8)),)
    shown = Shown(
        Evidence(str(tmp_path), breaks=breaks, observations=(Observation("a.py", 1, "step"),)), {"a.py": text}
    )
    assert [line for line in range(1, 10) if shown.calls_for("a.py", finding(line, "step"))] == [1, 2, 3, 5, 8]
