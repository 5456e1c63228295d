"""From the recipe of a tensor to the tensor: elements first, on the CPU, then the layout on its device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from gbfix.equivalence.example import Drawn, Listed, TensorRecipe


def dtype_of(name: str) -> torch.dtype:
    """The dtype by the name that torch prints, without "torch."."""
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype), name
    return dtype


def base_shape(recipe: TensorRecipe) -> tuple[int, ...]:
    """The shape of the elements that the recipe's values give: of size 1 where the tensor is expanded."""
    expanded = recipe.expanded if recipe.layout == "expanded" else ()
    return tuple(1 if i in expanded and size > 1 else size for i, size in enumerate(recipe.shape))


def make_tensor(recipe: TensorRecipe, device: str) -> torch.Tensor:
    """The tensor: a leaf, also where it is a view on larger memory. The same bits and strides on each device."""
    tensor = arranged(base_values(recipe).to(device), recipe)
    if recipe.parameter:
        return torch.nn.Parameter(tensor, requires_grad=recipe.requires_grad)
    return tensor.requires_grad_() if recipe.requires_grad else tensor


def base_values(recipe: TensorRecipe) -> torch.Tensor:
    """The elements as a contiguous tensor of `base_shape` on the CPU."""
    shape, dtype = base_shape(recipe), dtype_of(recipe.dtype)
    if isinstance(recipe.values, Listed):
        values = torch.empty(shape, dtype=dtype, device="cpu")
        values.view(-1).copy_(_listed(recipe.values.numbers, dtype))
        return values
    values = _drawn(recipe.values, shape, dtype)
    for index, number in recipe.values.special:
        if index < values.numel():
            values.view(-1)[index] = within(number, dtype)
    return values


def arranged(base: torch.Tensor, recipe: TensorRecipe) -> torch.Tensor:
    """The elements in the recipe's layout; one that the rank does not allow is contiguous."""
    layout = layout_of(recipe)
    if layout == "transposed":
        return base.mT.contiguous().mT
    if layout == "sliced":
        return base.repeat_interleave(2, dim=-1)[..., ::2]
    if layout == "offset":
        return torch.stack([base, base])[1]
    if layout == "expanded":
        return base.expand(recipe.shape)
    if layout == "strided":
        return torch.empty_strided(recipe.shape, recipe.strides, dtype=base.dtype, device=base.device).copy_(base)
    return base


def layout_of(recipe: TensorRecipe) -> str:
    """The layout that the recipe's rank allows: a transposed tensor has two dimensions, a sliced one has one."""
    needed = {"transposed": 2, "sliced": 1}
    return "contiguous" if len(recipe.shape) < needed.get(recipe.layout, 0) else recipe.layout


def within(number: Any, dtype: torch.dtype) -> Any:  # noqa: ANN401
    """A number as an element of the dtype: integers rounded and kept in its range, NaN as 0."""
    if dtype.is_floating_point or dtype.is_complex:
        return _plain(number)
    if dtype is torch.bool:
        return bool(number)
    limits = torch.iinfo(dtype)
    if isinstance(number, float):
        number = 0 if math.isnan(number) else round(max(min(number, 2.0**64), -(2.0**64)))
    return max(min(int(number), limits.max), limits.min)


def _listed(numbers: Sequence[bool | int | float | complex], dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_complex:
        return torch.tensor([_plain(complex(n)) for n in numbers], dtype=torch.complex128, device="cpu").to(dtype)
    if dtype.is_floating_point:
        return torch.tensor([_real(n) for n in numbers], dtype=torch.float64, device="cpu").to(dtype)
    return torch.tensor([within(_real(n), dtype) for n in numbers], dtype=dtype, device="cpu")


def _real(number: bool | int | float | complex) -> Any:  # noqa: ANN401
    return _plain(number.real if isinstance(number, complex) else number)


def _plain(number: Any) -> Any:  # noqa: ANN401
    """The number with the one NaN that source text can write, in place of others with a sign or payload."""
    if isinstance(number, complex):
        return complex(_plain(number.real), _plain(number.imag))
    return math.nan if isinstance(number, float) and math.isnan(number) else number


def is_uniform(values: Drawn) -> bool:
    """All elements are the shift: computed, -0.0 + 0 * n may be 0.0, and NaN have bits that depend on the dtype."""
    return values.scale == 0 or math.isnan(values.shift)


def _drawn(values: Drawn, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if is_uniform(values):
        return _listed([values.shift], dtype)[0].expand(shape).clone(memory_format=torch.contiguous_format)
    generator = torch.Generator().manual_seed(values.seed)
    wide = torch.complex128 if dtype.is_complex else torch.float64
    numbers = values.shift + values.scale * torch.randn(shape, generator=generator, dtype=wide, device="cpu")
    if values.low is not None or values.high is not None:
        numbers = numbers.clamp(values.low, values.high)
    if dtype is torch.bool:
        return numbers > 0
    if not (dtype.is_floating_point or dtype.is_complex):
        numbers = numbers.round().clamp(*integer_range(dtype))
    return numbers.to(dtype)


def integer_range(dtype: torch.dtype) -> tuple[float, float]:
    """The smallest and largest integer of the dtype that float64 holds exactly."""
    limits = torch.iinfo(dtype)
    largest = float(limits.max)
    return float(limits.min), largest if largest <= limits.max else math.nextafter(largest, 0.0)
