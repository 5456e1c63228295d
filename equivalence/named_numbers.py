"""Examples around the numbers that conditions name: `x.mean() > 100` has its other side near 100."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gbfix.equivalence.example import Example, Listed, Recipe, TensorRecipe

_NUMBERS = 3
"""Of a check; a condition with more of them is no threshold."""
_ELEMENTS = 4096
_WIDE = ("int32", "int64")
_INT32 = 2**31


def around_numbers(example: Example, conditions: Iterable[str]) -> tuple[Example, ...]:
    """The example with tensors whose elements are, or add up to, numbers in the conditions, and those beside them.

    0 and 1 are left out, since ordinary examples are around them.
    """
    numbers = dict.fromkeys(number for text in conditions for number in _numbers(text) if abs(number) not in (0, 1))
    return tuple(
        _with_elements(example, value, others)
        for number in list(numbers)[:_NUMBERS]
        for value in (number, math.floor(number) + 1, math.ceil(number) - 1)
        for others in (value, 0)
    )


def _numbers(text: str) -> Iterator[float]:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return
    negated = {id(node.operand) for node in ast.walk(tree) if isinstance(node, ast.UnaryOp) and _is_minus(node)}
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield -value if id(node) in negated else value


def _is_minus(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.USub)


def _with_elements(example: Example, first: float, others: float) -> Example:
    return replace(
        example, arguments=tuple((name, _filled(recipe, first, others)) for name, recipe in example.arguments)
    )


def _filled(recipe: Recipe, first: float, others: float) -> Recipe:
    if not isinstance(recipe, TensorRecipe) or recipe.layout == "expanded":
        return recipe
    count = math.prod(recipe.shape)
    floating = recipe.dtype.startswith(("float", "bfloat"))
    if not (floating or (recipe.dtype in _WIDE and abs(first) < _INT32)) or not 0 < count <= _ELEMENTS:
        return recipe
    number = float if floating else int
    return replace(recipe, values=Listed((number(first), *[number(others)] * (count - 1))))
