"""The recipe of a tensor as readable statements that need only `import torch` and give the same bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from gbfix.equivalence.example import Drawn, TensorRecipe
from gbfix.equivalence.tensor_recipes import (
    base_shape,
    base_values,
    dtype_of,
    integer_range,
    is_uniform,
    layout_of,
    within,
)

LISTED_ELEMENTS = 64
"""A tensor of more elements is written as the generator that draws them, where there is one."""

_LAYOUTS = {
    "contiguous": "{x}",
    "transposed": "{x}.mT.contiguous().mT",
    "sliced": "{x}.repeat_interleave(2, dim=-1)[..., ::2]",
    "offset": "torch.stack([{x}, {x}])[1]",
    "expanded": "{x}.expand({shape})",
    "strided": "torch.empty_strided({shape}, {strides}, dtype={x}.dtype, device={x}.device).copy_({x})",
}


def tensor_source(name: str, recipe: TensorRecipe, device: str) -> list[str]:
    """Statements that set the name to the recipe's tensor."""
    statements = _elements(name, recipe)
    if device != "cpu":
        statements = _onto(name, statements, f".to({device!r})")
    layout = _LAYOUTS[layout_of(recipe)]
    if layout != "{x}":
        statements.append(f"{name} = {layout.format(x=name, shape=recipe.shape, strides=recipe.strides)}")
    if recipe.parameter:
        statements.append(f"{name} = torch.nn.Parameter({name}, requires_grad={recipe.requires_grad})")
    elif recipe.requires_grad:
        statements = _onto(name, statements, ".requires_grad_()")
    return statements


def _onto(name: str, statements: list[str], suffix: str) -> list[str]:
    """The suffix on the last statement, where that sets the name, else in a statement of its own."""
    if statements[-1].startswith(f"{name} = ") and statements[-1].endswith(")"):
        return [*statements[:-1], statements[-1] + suffix]
    return [*statements, f"{name} = {name}{suffix}"]


def _elements(name: str, recipe: TensorRecipe) -> list[str]:
    shape = base_shape(recipe)
    count = math.prod(shape)
    if count == 0:
        return [f"{name} = torch.empty({shape}, dtype=torch.{recipe.dtype})"]
    if isinstance(recipe.values, Drawn) and count > LISTED_ELEMENTS:
        return [*_drawn(name, recipe.values, shape, recipe.dtype), *_special(name, recipe)]
    values = base_values(recipe)
    texts = number_texts(values)
    return [f"{name} = torch.tensor({_nested(texts, shape)}, dtype=torch.{recipe.dtype})"]


def _drawn(name: str, values: Drawn, shape: tuple[int, ...], dtype_name: str) -> list[str]:
    dtype = dtype_of(dtype_name)
    if is_uniform(values):
        one = base_values(TensorRecipe(dtype_name, (1,), Drawn(0, 0.0, values.shift)))
        exact = number_text(one.item())  # a shorter text may lie beyond the largest number, which is an error here
        return [f"{name} = torch.full({shape}, {exact}, dtype=torch.{dtype_name})"]
    wide = "complex128" if dtype.is_complex else "float64"
    generator = f"torch.Generator().manual_seed({values.seed})"
    statements = [f"{name} = torch.randn({shape}, generator={generator}, dtype=torch.{wide})"]
    statements.append(f"{name} = {number_text(values.shift)} + {number_text(values.scale)} * {name}")
    if values.low is not None or values.high is not None:
        statements.append(f"{name} = {name}.clamp({values.low!r}, {values.high!r})")
    if dtype is torch.bool:
        return [*statements, f"{name} = {name} > 0"]
    if not (dtype.is_floating_point or dtype.is_complex):
        low, high = integer_range(dtype)
        statements.append(f"{name} = {name}.round().clamp({low!r}, {high!r})")
    return [*statements, f"{name} = {name}.to(torch.{dtype_name})"]


def _special(name: str, recipe: TensorRecipe) -> list[str]:
    shape, dtype = base_shape(recipe), dtype_of(recipe.dtype)
    special = recipe.values.special if isinstance(recipe.values, Drawn) else ()
    return [
        f"{name}[{', '.join(map(str, _position(index, shape)))}] = {number_text(within(number, dtype))}"
        for index, number in special
        if index < math.prod(shape)
    ]


def _position(index: int, shape: Sequence[int]) -> list[int]:
    position = []
    for size in reversed(shape):
        index, rest = divmod(index, size)
        position.append(rest)
    return position[::-1]


def number_texts(values: torch.Tensor) -> list[str]:
    """The elements in row-major order, each as the shortest text that gives it in the tensor's dtype again."""
    numbers = values.flatten().tolist()
    texts = [number_text(number) for number in numbers]
    if not values.dtype.is_floating_point:
        return texts
    for digits in range(1, 10):
        shorter = [float(f"{number:.{digits}g}") for number in numbers]
        again = torch.tensor(shorter, dtype=values.dtype, device="cpu").tolist()
        for i, (number, short, back) in enumerate(zip(numbers, shorter, again, strict=True)):
            if number == back and math.isfinite(number) and len(repr(short)) < len(texts[i]):
                texts[i] = repr(short)
    return texts


def number_text(number: Any) -> str:  # noqa: ANN401
    """A number as source, with torch.nan and torch.inf, which have no literals."""
    if isinstance(number, complex):
        return f"complex({number_text(number.real)}, {number_text(number.imag)})"
    if isinstance(number, float) and not math.isfinite(number):
        return "torch.nan" if math.isnan(number) else "torch.inf" if number > 0 else "-torch.inf"
    return repr(number)


def _nested(texts: Sequence[str], shape: Sequence[int]) -> str:
    if not shape:
        return texts[0]
    step = len(texts) // shape[0]
    return f"[{', '.join(_nested(texts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))}]"
