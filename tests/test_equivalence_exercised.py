"""What counts as covered by an example."""

from __future__ import annotations

import pytest

from gbfix.equivalence.example import Example
from gbfix.equivalence.exercised import Tally
from gbfix.equivalence.model import Described, Exercised, Observation, Raised, TensorFacts


def tally(*dtypes: str) -> Exercised:
    tensors = [Described("tensor", "torch.Tensor", TensorFacts(each, (0,), (1,), "cpu", False, b"")) for each in dtypes]
    arguments = Described("container", "dict", items=tuple((str(i), each) for i, each in enumerate(tensors)))
    found = Tally()
    found.add(Example(), Observation(arguments=arguments))
    return found.exercised()


@pytest.mark.parametrize(
    ("dtypes", "integers"),
    [(("int64",), 1), (("int64", "bool"), 1), (("float32", "int64"), 0), (("float32", "bool"), 0), ((), 0)],
)
def test_integers_are_those_in_place_of_floats(dtypes: tuple[str, ...], integers: int) -> None:
    assert tally(*dtypes).integers == integers


@pytest.mark.parametrize(
    ("dtypes", "no_floats"), [(("int64", "bool"), 1), ((), 1), (("int64", "float16"), 0), (("complex64",), 0)]
)
def test_calls_without_anything_that_can_be_nan_are_counted(dtypes: tuple[str, ...], no_floats: int) -> None:
    assert tally(*dtypes).no_floats == no_floats


def test_a_call_with_a_float_that_is_refused_says_nothing_about_floats() -> None:
    tensor = Described("tensor", "torch.Tensor", TensorFacts("float32", (0,), (1,), "cpu", False, b""))
    found = Tally()
    found.add(Example(), Observation(arguments=tensor, raised=Raised("ValueError", "")))
    assert found.exercised().no_floats == 1


def test_half_counts_beside_others() -> None:
    assert tally("float32", "float16").half == 1
