"""What counts as covered by an example."""

from __future__ import annotations

import pytest

from gbfix.equivalence.example import Example
from gbfix.equivalence.exercised import Tally
from gbfix.equivalence.model import Described, Exercised, Observation, TensorFacts


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


def test_half_counts_beside_others() -> None:
    assert tally("float32", "float16").half == 1
