from __future__ import annotations

import random

from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span
from gbfix.engine.overlap import without_overlaps


def finding(code: str, *spans: Span, obligations: tuple[Obligation, ...] = ()) -> Finding:
    fix = Fix("test", tuple(Replacement(span, "x") for span in spans))
    return Finding(code, code.lower(), spans[0], "", "f", "", obligations, fix)


OUTER = finding("GBF101", Span(1, 0, 5, 9))
INNER = finding("GBF102", Span(2, 4, 3, 9))
INNERMOST = finding("GBF103", Span(3, 4, 3, 8))
BESIDE = finding("GBF104", Span(4, 4, 4, 8))


def test_the_innermost_of_each_nest_is_kept_in_source_order() -> None:
    assert without_overlaps([OUTER, BESIDE, INNER, INNERMOST]) == (INNERMOST, BESIDE)


def test_columns_decide_within_a_line() -> None:
    wide, narrow = finding("GBF101", Span(1, 0, 1, 20)), finding("GBF102", Span(1, 12, 1, 20))
    assert without_overlaps([wide, narrow]) == (narrow,)


def test_adjacent_edits_are_both_kept() -> None:
    left, right = finding("GBF101", Span(1, 0, 1, 5)), finding("GBF101", Span(1, 5, 1, 9))
    assert without_overlaps([right, left]) == (left, right)


def test_of_equal_edits_the_first_code_is_kept() -> None:
    span = Span(2, 0, 2, 9)
    assert without_overlaps([finding("GBF202", span), finding("GBF201", span)]) == (finding("GBF201", span),)


def test_of_partly_overlapping_equal_edits_the_first_position_is_kept() -> None:
    left, right = finding("GBF102", Span(1, 0, 1, 5)), finding("GBF101", Span(1, 3, 1, 8))
    assert without_overlaps([right, left]) == (left,)


def test_every_replacement_of_a_fix_counts_but_not_what_lies_between() -> None:
    spread = finding("GBF101", Span(1, 0, 1, 4), Span(9, 0, 9, 4))
    between, on_the_second = finding("GBF102", Span(5, 0, 5, 4)), finding("GBF103", Span(9, 1, 9, 2))
    assert without_overlaps([spread, between]) == (spread, between)
    assert without_overlaps([spread, on_the_second]) == (on_the_second,)


def test_findings_that_are_not_applied_stay_and_take_no_room() -> None:
    without_fix = Finding("GBF301", "print", Span(1, 0, 5, 9), "", "f", "")
    refused = finding("GBF302", Span(3, 5, 3, 6), obligations=(Obligation("pure", Discharge.VIOLATED, "prints"),))
    assert without_overlaps([without_fix, refused, INNERMOST]) == (without_fix, INNERMOST, refused)


def test_the_result_does_not_depend_on_the_order() -> None:
    findings = [OUTER, INNER, INNERMOST, BESIDE, finding("GBF105", Span(3, 6, 4, 6))]
    expected = without_overlaps(findings)
    for seed in range(20):
        shuffled = random.Random(seed).sample(findings, len(findings))
        assert without_overlaps(shuffled) == expected
