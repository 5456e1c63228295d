from __future__ import annotations

from gbfix.cli.positions import moved
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span


def _at(line: int, reason_line: int = 0) -> Finding:
    obligation = Obligation("claim", Discharge.PROVED, "reason", reason_line)
    return Finding("GBF101", "n", Span(line, 4, line, 9), "m", "f", "r", (obligation,))


def test_lines_after_a_removed_block_move() -> None:
    finding = moved(_at(2, 3), "a\nd\ne\n", "a\nb\nc\nd\ne\n")
    assert finding.span == Span(4, 4, 4, 9)
    assert finding.obligations[0].line == 5


def test_a_line_that_the_other_text_lacks_goes_to_what_stands_in_its_place() -> None:
    assert moved(_at(2), "a\nnew\nd\n", "a\nb\nc\nd\n").span.line == 2
    assert moved(_at(3), "a\nx\ny\nz\nd\n", "a\nb\nd\n").span.line == 2


def test_the_same_text_leaves_the_finding_alone() -> None:
    finding = _at(2, 1)
    assert moved(finding, "a\nb", "a\nb") is finding


def test_obligations_about_the_whole_file_keep_line_zero() -> None:
    assert moved(_at(1), "b\n", "a\nb\n").obligations[0].line == 0


def test_what_a_fix_edits_moves_with_its_finding() -> None:
    fix = Fix("t", (Replacement(Span(3, 0, 3, 5), "d"),))
    finding = Finding("GBF101", "n", Span(2, 0, 2, 1), "m", "f", "r", (), fix)
    there = moved(finding, "a\nb\nc\n", "new\na\nb\nc\n")
    assert there.span.line == 3
    assert there.fix == Fix("t", (Replacement(Span(4, 0, 4, 5), "d"),))
