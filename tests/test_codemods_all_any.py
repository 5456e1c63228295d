"""Questions about each element of a tensor, which a run showed to have one dimension, or not."""

from __future__ import annotations

import pytest
from facts import Program

from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.codemods._all_any import questions_of


def asked(test: str, *shape: int) -> list[str]:
    spec = TensorSpec("float32", shape, (1,) * len(shape), "cpu", False)
    values = {"x": ValueSpec("tensor", "torch.Tensor", tensor=spec)}
    text = f"def f(x: torch.Tensor, n):\n    if {test}:  # here\n        x = x + 1\n    return x\n"
    return [text for _, text, _ in questions_of(Program(text, Observation("program.py", 1, "f", values=values)).flow)]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("all(v > 0 for v in x)", "(x > 0).all()"),
        ("not any(v != 0.5 for v in x) and n", "(x != 0.5).any()"),
        ("any(x)", "x.any()"),
        ("all((v) > 0 for v in x)", ""),
        ("all(v > 300 for v in x)", ""),
        ("all(v > n for v in x)", ""),
        ("all(v > 0 for v in x if n)", ""),
    ],
)
def test_elements_of_one_dimension(test: str, expected: str) -> None:
    assert asked(test, 3) == [expected]


def test_rows_and_numbers_are_left() -> None:
    assert asked("any(x)", 3, 2) == asked("any(x)") == [""]


@pytest.mark.parametrize("test", ["n(all(x))", "n == any(x)", "all(n)", "x.all()"])
def test_what_is_no_condition_on_a_tensor(test: str) -> None:
    assert asked(test, 3) == []
