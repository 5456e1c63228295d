"""A Hypothesis strategy of tensors for tests that people write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from gbfix.equivalence.example import Drawn, TensorRecipe
from gbfix.equivalence.tensor_recipes import integer_range, make_tensor

Size: TypeAlias = int | str | SearchStrategy[int] | None

_LAYOUTS = ("contiguous", "transposed", "sliced", "offset", "expanded")
_MOST_SPECIAL_ELEMENTS = 3
_SEEDS = 2**32 - 1


def tensors(
    *shape: Size,
    dtype: torch.dtype | Sequence[torch.dtype] = torch.float32,
    layouts: bool = True,
    special: bool = True,
    requires_grad: bool | None = False,
    low: float | None = None,
    high: float | None = None,
    min_side: int = 0,
    max_side: int = 8,
    device: str = "cpu",
) -> SearchStrategy[torch.Tensor]:
    """A strategy of tensors with one dimension for each size given; without sizes, of 0-d tensors.

    shape: for each dimension its number of elements, a strategy of it, None for any from min_side to max_side, or a
    name: dimensions with the same name are of the same size in all tensors of one example, as in
    `st.tuples(tensors("batch", 4), tensors("batch"))`.
    dtype: of all tensors, or several of which each example has one.
    layouts: also transposed, sliced and expanded tensors, and such that begin within their memory.
    special: also zeros, -0.0, NaN, infinities, denormals and the extremes of the dtype; all elements equal, or a few
    special ones among ordinary ones. Ordinary elements are of a normal distribution, rounded for integers.
    low, high: bounds of all elements, inclusive, such as 0 and the number of classes less one; NaN is then left out.
    requires_grad: of each tensor, None for both; integers and bool never do.
    device: where the tensors are, as torch names it.

    Raises ValueError for sizes or bounds that leave no tensor, TypeError for a dtype that is none.
    """
    dtypes = [dtype] if isinstance(dtype, torch.dtype) else list(dtype)
    for each in dtypes:
        if not isinstance(each, torch.dtype):
            raise TypeError(f"dtype must be a torch.dtype such as torch.float32, not {each!r}")
    if not dtypes:
        raise ValueError("dtype must name at least one dtype")
    if not 0 <= min_side <= max_side:
        raise ValueError(f"sizes from min_side={min_side} to max_side={max_side}: there are none")
    if low is not None and high is not None and low > high:
        raise ValueError(f"elements from low={low} to high={high}: there are none")
    sizes = [_size(size, min_side, max_side) for size in shape]

    @st.composite
    def draw_tensor(draw: st.DrawFn) -> torch.Tensor:
        chosen = draw(st.sampled_from(dtypes))
        drawn_shape = tuple(draw(size) for size in sizes)
        layout = draw(st.sampled_from(_LAYOUTS)) if layouts and shape else "contiguous"
        dimensions = range(len(drawn_shape)) if layout == "expanded" else ()
        expanded = tuple(dimension for dimension in dimensions if draw(st.booleans()))
        differentiable = chosen.is_floating_point or chosen.is_complex
        grad = draw(st.booleans()) if requires_grad is None and differentiable else bool(requires_grad)
        recipe = TensorRecipe(
            dtype=str(chosen).removeprefix("torch."),
            shape=drawn_shape,
            values=draw(_values(chosen, math.prod(drawn_shape), special, low, high)),
            layout=layout,
            expanded=expanded,
            requires_grad=grad and differentiable,
        )
        return make_tensor(recipe, device)

    return draw_tensor()


def _size(size: Size, low: int, high: int) -> SearchStrategy[int]:
    if isinstance(size, SearchStrategy):
        return size
    if isinstance(size, str):
        return st.shared(st.integers(low, high), key=f"gbfix size {size}")
    if size is None:
        return st.integers(low, high)
    if size < 0:
        raise ValueError(f"a dimension cannot have {size} elements")
    return st.just(size)


def _values(
    dtype: torch.dtype, count: int, special: bool, low: float | None, high: float | None
) -> SearchStrategy[Drawn]:
    seeds = st.integers(0, _SEEDS)
    scales = st.sampled_from([1.0, 0.01, 100.0])
    ordinary = st.builds(Drawn, seed=seeds, scale=scales, low=st.just(low), high=st.just(high))
    numbers = [each for each in _special_numbers(dtype) if _within(each, low, high)]
    if not special or not numbers or not count:
        return ordinary
    equal = st.builds(Drawn, seed=st.just(0), scale=st.just(0.0), shift=st.sampled_from(numbers))
    positions = st.tuples(st.integers(0, count - 1), st.sampled_from(numbers))
    some = st.lists(positions, min_size=1, max_size=_MOST_SPECIAL_ELEMENTS).map(tuple)
    mixed = st.builds(Drawn, seed=seeds, scale=scales, special=some, low=st.just(low), high=st.just(high))
    return ordinary | equal | mixed


def _special_numbers(dtype: torch.dtype) -> list[float]:
    if dtype is torch.bool:
        return [0.0, 1.0]
    if not (dtype.is_floating_point or dtype.is_complex):
        smallest, largest = integer_range(dtype)
        return [0.0, 1.0, largest, *([-1.0, smallest] if smallest < 0 else [])]
    limits = torch.finfo(dtype)
    subnormal = limits.smallest_normal / 2
    finite = [0.0, 1.0, -0.0, -1.0, 0.5, limits.eps, limits.max, limits.min, limits.tiny, subnormal]
    return [*finite, float("nan"), float("inf"), float("-inf")]


def _within(number: float, low: float | None, high: float | None) -> bool:
    return (low is None or number >= low) and (high is None or number <= high)
