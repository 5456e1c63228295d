from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gbfix.cli.edited import edited
from gbfix.cli.outcome import accept_all
from gbfix.engine.files import SourceText
from gbfix.engine.model import Finding, Fix, Replacement, Safety, SourceError, Span


def _source(text: str, encoding: str = "utf-8") -> SourceText:
    return SourceText(Path("a.py"), text, encoding, False)


def _finding(line: int, source: str) -> Finding:
    span = Span(line, 0, line, 3)
    return Finding("GBF901", "n", span, "m", "f", "r", fix=Fix("t", (Replacement(span, source),)))


def _becoming(source: str) -> Callable[[str], list[Finding]]:
    def find(text: str) -> list[Finding]:
        return [_finding(number, source) for number, line in enumerate(text.split("\n"), 1) if line == "old"]

    return find


def test_an_edit_that_cannot_be_made_is_a_refusal_and_nobody_is_asked_about_it() -> None:
    asked: list[str] = []
    outcome = edited(
        _source("old\n"), _becoming("(("), unsafe=False, accept=lambda name, _entry: bool(asked.append(name))
    )
    assert (outcome.after, outcome.applied, asked) == ("old\n", (), [])
    (entry,) = outcome.remaining
    assert entry.finding.safety is Safety.REFUSED
    assert [obligation.claim for obligation in entry.finding.obligations] == ["the edit could be made"]
    assert entry.diff == ""


def test_a_fix_that_another_one_uncovers_is_made_and_stands_at_its_line_before() -> None:
    def find(text: str) -> list[Finding]:
        lines = text.split("\n")
        first = [_finding(1, "one\ntwo")] if lines[0] == "old" else []
        return first or [_finding(number, "new") for number, line in enumerate(lines, 1) if line == "old"]

    outcome = edited(_source("old\nx = 1\nold\n"), find, unsafe=False, accept=accept_all)
    assert outcome.after == "one\ntwo\nx = 1\nnew\n"
    assert [entry.finding.span.line for entry in outcome.applied] == [1, 3]
    assert outcome.remaining == ()


def test_what_remains_is_what_a_second_run_would_find() -> None:
    def find(text: str) -> list[Finding]:
        return [] if "new" in text else [_finding(1, "new"), Finding("GBF902", "n", Span(2, 0, 2, 1), "m", "f", "r")]

    outcome = edited(_source("old\nx\n"), find, unsafe=False, accept=accept_all)
    assert (outcome.after, outcome.remaining) == ("new\nx\n", ())


def test_a_result_that_the_encoding_of_the_file_lacks_is_an_error() -> None:
    with pytest.raises(SourceError, match=r"a\.py:1: "):
        edited(_source("old\n", "ascii"), _becoming("\u00e9"), unsafe=False, accept=accept_all)
