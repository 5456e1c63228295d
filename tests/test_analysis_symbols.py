"""Sizes that Dynamo left open are tried with two choices of numbers."""

from __future__ import annotations

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


def test_expressions_are_computed() -> None:
    for seen in without_symbols(observation(x=("s0", 4), y=("2*s0 + 1", 4), z=("(s0 - 1)//2", 4))):
        size = shape(seen, "x")[0]
        assert isinstance(size, int)
        assert shape(seen, "y")[0] == 2 * size + 1
        assert shape(seen, "z")[0] == (size - 1) // 2


def test_items_of_containers_are_filled_too() -> None:
    inner = ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", ("s0",), (1,)))
    seen = Observation("f.py", 3, "f", values={"batch": ValueSpec("list", "list", items=(("0", inner),))})
    for filled in without_symbols(seen):
        tensor = filled.values["batch"].items[0][1].tensor
        assert tensor is not None
        assert isinstance(tensor.shape[0], int)


def test_an_expression_that_is_not_understood_gives_nothing() -> None:
    assert without_symbols(observation(x=("Max(1, s0)", 4))) == ()
    assert without_symbols(observation(x=("s0 +", 4))) == ()
    assert without_symbols(observation(x=("s0//0", 4))) == ()
