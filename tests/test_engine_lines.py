from __future__ import annotations

from gbfix.engine.lines import split_lines, text_of
from gbfix.engine.model import Span


def test_lines_end_where_python_ends_them() -> None:
    assert split_lines("a\r\nb\rc\nd\x0ce\u2028f") == ["a", "b", "c", "d\x0ce\u2028f"]


def test_text_of_one_and_of_several_lines() -> None:
    text = "é = [1,\r\n     2]\r\n"
    assert text_of(Span(1, 4, 1, 6), text) == "[1"
    assert text_of(Span(1, 4, 2, 7), text) == "[1,\n     2]"
