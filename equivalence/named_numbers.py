"""Examples around the numbers that conditions name: `x.mean() > 100` has its other side near 100."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from gbfix.equivalence.example import Example, Listed, Recipe, TensorRecipe

_NUMBERS = 3
"""Of a check; conditions with more of them have no threshold."""
_TENSORS = 4
_ELEMENTS = 4096
_WIDE = ("int32", "int64")
_INT32 = 2**31


def around_numbers(example: Example, fullest: Example, numbers: Sequence[float]) -> tuple[Example, ...]:
    """Calls with tensors whose elements are, or add up to, the first of the numbers, and those beside them.

    All tensors of the example are, and one alone of the fullest call: not every tensor takes what one does.
    """
    found = [
        _with_elements(example, value, others)
        for number in numbers[:_NUMBERS]
        for value in (number, math.floor(number) + 1, math.ceil(number) - 1)
        for others in (value, 0)
    ]
    tensors = [name for name, recipe in fullest.arguments if isinstance(recipe, TensorRecipe)][:_TENSORS]
    alone = [
        _with_elements(fullest, number, number, only=name)
        for number in numbers[:_NUMBERS]
        for name in (tensors if len(tensors) > 1 else ())
    ]
    return (*found, *alone)


def _with_elements(example: Example, first: float, others: float, only: str = "") -> Example:
    arguments = tuple(
        (name, _filled(recipe, first, others) if only in ("", name) else recipe) for name, recipe in example.arguments
    )
    return replace(example, arguments=arguments)


def _filled(recipe: Recipe, first: float, others: float) -> Recipe:
    if not isinstance(recipe, TensorRecipe) or recipe.layout == "expanded":
        return recipe
    count = math.prod(recipe.shape)
    floating = recipe.dtype.startswith(("float", "bfloat"))
    if not (floating or (recipe.dtype in _WIDE and abs(first) < _INT32)) or not 0 < count <= _ELEMENTS:
        return recipe
    number = float if floating else int
    return replace(recipe, values=Listed((number(first), *[number(others)] * (count - 1))))
