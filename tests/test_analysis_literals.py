from __future__ import annotations

import ast

import pytest

from gbfix.analysis.literals import (
    is_constant_index,
    is_literal,
    is_moderate_constant,
    is_nonzero_constant,
    is_text_of_infinity,
    literal_number,
    number_in,
    number_of,
    rank_change,
    shorten,
)


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def index(text: str) -> ast.expr:
    node = expression(f"x[{text}]")
    assert isinstance(node, ast.Subscript)
    return node.slice


@pytest.mark.parametrize(
    ("text", "number"),
    [("2", 2.0), ("-0.5", -0.5), ("True", None), ("'2'", None), ("1e999", None), ("1" + "0" * 400, None), ("n", None)],
)
def test_numbers(text: str, number: float | None) -> None:
    assert number_of(expression(text)) == number
    assert number_in(text) == number


def test_text_that_is_no_expression_spells_no_number() -> None:
    assert number_in("2 +") is None


def test_a_literal_number_keeps_what_a_float_would_lose() -> None:
    assert literal_number(expression(str(2**53 + 1))) == 2**53 + 1
    assert literal_number(expression("True")) is True


@pytest.mark.parametrize(("text", "nonzero"), [("1", True), ("-2.0", True), ("0", False), ("0.0", False), ("n", False)])
def test_constants_other_than_zero(text: str, nonzero: bool) -> None:
    assert is_nonzero_constant(expression(text)) is nonzero


@pytest.mark.parametrize(
    ("text", "moderate"), [("0", True), ("1e37", True), ("-3", True), ("1e38", False), ("1e-38", False), ("n", False)]
)
def test_constants_that_stay_what_they_are_in_single_precision(text: str, moderate: bool) -> None:
    assert is_moderate_constant(expression(text)) is moderate


@pytest.mark.parametrize(
    ("text", "infinite"),
    [
        ("float('inf')", True),
        ("float('-INF')", True),
        ("-float('nan')", True),
        ("float('1')", False),
        ("float(n)", False),
    ],
)
def test_texts_that_float_takes_as_no_finite_number(text: str, infinite: bool) -> None:
    assert is_text_of_infinity(expression(text)) is infinite


@pytest.mark.parametrize(("text", "literal"), [("(1, 'a')", True), ("{1: [None]}", True), ("a", False), ("f()", False)])
def test_literals(text: str, literal: bool) -> None:
    assert is_literal(expression(text)) is literal


@pytest.mark.parametrize(
    ("text", "constant", "change"),
    [
        ("0", True, -1),
        ("-1", True, -1),
        ("None", True, 1),
        ("...", True, 0),
        ("1:", True, 0),
        ("..., None, 0", True, 0),
        (":, None, None", True, 2),
        ("n:", False, 0),
        ("True", False, 0),
        ("n", False, 0),
    ],
)
def test_indices_and_the_dimensions_they_add(text: str, constant: bool, change: int) -> None:
    assert is_constant_index(index(text)) is constant
    assert rank_change(index(text)) == change


def test_text_is_cut_at_its_limit_and_brought_on_one_line() -> None:
    assert shorten("a\n    + b") == "a + b"
    assert shorten("x" * 60) == "x" * 60
    assert shorten("x" * 61) == "x" * 57 + "..."
