"""Sizes that Dynamo left open are tried with two choices of numbers."""

from __future__ import annotations

import pytest

from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.analysis.symbols import without_symbols


def observation(**shapes: tuple[int | str, ...]) -> Observation:
    values = {
        name: ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", shape, ("s0", 1)[-len(shape) :]))
        for name, shape in shapes.items()
    }
    return Observation("f.py", 3, "f", values=values)


def shape(of: Observation, name: str) -> tuple[int | str, ...]:
    tensor = of.values[name].tensor
    assert tensor is not None
    return tensor.shape


def test_an_observation_without_symbols_stays_one() -> None:
    seen = observation(x=(3,))
    assert without_symbols(seen) == (seen,)


def test_a_symbol_is_the_same_number_wherever_it_stands() -> None:
    first, second = without_symbols(observation(x=("s0", 4), y=("s0", 4), z=("s1", 4)))
    for seen in (first, second):
        assert shape(seen, "x") == shape(seen, "y") != shape(seen, "z")
    assert shape(first, "x") != shape(second, "x")


def test_sums_and_products_are_computed() -> None:
    for seen in without_symbols(observation(x=("s0", 4), y=("2*s0 + 1", 4), z=("s0*s1", 4), w=("s1", 4))):
        first, other = shape(seen, "x")[0], shape(seen, "w")[0]
        assert isinstance(first, int)
        assert isinstance(other, int)
        assert shape(seen, "y")[0] == 2 * first + 1
        assert shape(seen, "z")[0] == first * other


def test_items_of_containers_are_filled_too() -> None:
    inner = ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", ("s0",), (1,)))
    seen = Observation("f.py", 3, "f", values={"batch": ValueSpec("list", "list", items=(("0", inner),))})
    for filled in without_symbols(seen):
        tensor = filled.values["batch"].items[0][1].tensor
        assert tensor is not None
        assert isinstance(tensor.shape[0], int)


UNKNOWN = ["s0 - 2", "s0//16", "Mod(s0, 2)", "Max(1, s0)", "s0 +", "-s0", "0*s0", "u0", "3*u1", "?s86", "?s0 + s86"]


@pytest.mark.parametrize("size", UNKNOWN)
def test_a_size_that_may_be_anything_makes_its_tensor_unknown(size: str) -> None:
    seen = without_symbols(observation(x=(size, 4), y=("s0", 4)))
    assert {o.values["x"].kind for o in seen} == {"object"}
    assert {o.values["y"].kind for o in seen} == {"tensor"}


def test_more_symbols_than_numbers_to_choose_from() -> None:
    many = {f"x{i}": (f"s{i}", 4) for i in range(20)}
    assert {spec.kind for o in without_symbols(observation(**many)) for spec in o.values.values()} == {"object"}
