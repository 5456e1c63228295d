"""The numbers at which the conditions of a program have their other side."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gbfix.equivalence.condition_numbers import numbers_of, sizes_among, words_of
from gbfix.equivalence.model import Condition


def numbers(original: str = "", rewritten: str = "", conditions: Sequence[str] = ()) -> tuple[float, ...]:
    found = [Condition("f.py", 1, 0, text) for text in conditions]
    return numbers_of(found, {"f.py": original}, {"f.py": rewritten or original})


def test_numbers_of_conditions_without_those_that_are_ordinary() -> None:
    assert numbers(conditions=["x.mean() > 100 and n > 0", "x.sum() < -2.5"]) == (100, -2.5)
    assert not numbers(conditions=["x.sum() > 0", "x.any()", "a := 3", "x == 1", "x > -1", "x < float('inf')"])


def test_numbers_of_changed_comparisons_in_both_versions() -> None:
    text = "def f(x):\n    y = 7\n    return x > {limit}\n\n\ndef g(x):\n    return x > 99\n"
    assert numbers(text.format(limit=3.5), text.format(limit=4.5)) == (3.5, 4.5)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("LIMIT = 37.5\n", "x.sum() > LIMIT"),
        ("LIMIT: float = 37.5\n", "x.sum() > LIMIT"),
        ("class Net:\n    def __init__(self):\n        self.limit = 37.5\n", "x.sum() > self.limit"),
        ("class Net:\n    def __init__(self, limit=37.5):\n        self.limit = limit\n", "x.sum() > self.limit"),
        ("def f(x, *, limit=37.5):\n    pass\n", "x.sum() > limit"),
        ("config = Config(limit=37.5)\n", "x.sum() > self.config.limit"),
        ("def is_big(x):\n    return x.sum() > 37.5\n", "is_big(x)"),
        ("LIMIT = 37.5\n\n\ndef is_big(x):\n    return x.sum() > LIMIT\n", "is_big(x)"),
    ],
)
def test_numbers_behind_names(text: str, condition: str) -> None:
    assert numbers(text, conditions=[condition]) == (37.5,)


def test_what_is_computed_is_no_number() -> None:
    assert not numbers("LIMIT = other(37.5)\n", conditions=["x.sum() > LIMIT"])


def test_text_that_does_not_parse_has_none() -> None:
    assert not numbers("def", conditions=["x.sum() >"])


def test_sizes_are_those_beside_the_number_where_a_size_is_asked_for() -> None:
    assert sizes_among((48, 2.5, 1e9), [Condition("f.py", 1, 0, "x.shape[0] > 48")]) == (48, 49, 47)
    assert not sizes_among((48,), [Condition("f.py", 1, 0, "x.sum() > 48")])


def test_words_are_what_something_is_compared_with() -> None:
    match = 'match mode:\n        case "c":\n            return mode in ("a", "b") or mode == "a"\n'
    text = f'def f(mode):\n    print("no")\n    {match}'
    assert set(words_of([text])) == {"a", "b", "c"}
    assert not words_of(["def"])
