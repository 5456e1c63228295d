"""How far apart two tensors of the same dtype and shape are: which elements, and units in the last place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from gbfix.equivalence.model import TensorFacts, Tolerance

_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True)
class Elements:
    """Which elements differ. count, of: how many, of how many. first: the index of the first one.

    original, rewritten: that element as text. ulp: the largest distance, None where a NaN or an infinity differs or
    the dtype does not float. within: all are inside of the tolerance.
    """

    count: int
    of: int
    first: tuple[int, ...]
    original: str
    rewritten: str
    ulp: int | None
    within: bool


def elements(facts: TensorFacts) -> torch.Tensor | None:
    """The elements as a dense tensor on the CPU, None where they are not known."""
    dtype = getattr(torch, facts.dtype, None)
    if not isinstance(dtype, torch.dtype) or facts.dtype.startswith("q"):  # Quantized ones are no plain elements.
        return None
    count = 1
    for size in facts.shape:
        count *= size
    if count == 0 or len(facts.data) != count * dtype.itemsize:
        return None
    return torch.frombuffer(bytearray(facts.data), dtype=dtype).reshape(facts.shape)


def differing(
    original: torch.Tensor, rewritten: torch.Tensor, tolerance: Tolerance | None, *, signed_zeros: bool = True
) -> Elements | None:
    """Compare bit for bit; a NaN equals any NaN at its place, and -0.0 equals 0.0 only without `signed_zeros`.

    None when nothing differs. Complex numbers are compared by their parts.
    """
    one, other = _parts(original), _parts(rewritten)
    different = _bits(one) != _bits(other)
    if one.is_floating_point():
        different &= ~(_wide(one).isnan() & _wide(other).isnan())
        if not signed_zeros:
            different &= ~((_wide(one) == 0) & (_wide(other) == 0))
    if not bool(different.any()):
        return None
    floating = one.is_floating_point()
    ulp = _largest_ulp(one[different], other[different]) if floating else None
    within = floating and tolerance is not None and _is_within(one[different], other[different], tolerance)
    places = different.any(-1) if original.is_complex() else different
    first = tuple(int(index) for index in torch.nonzero(places)[0]) if places.dim() else ()
    return Elements(
        int(places.sum()),
        places.numel(),
        first,
        _number(original[first]),
        _number(rewritten[first]),
        ulp,
        within,
    )


def _number(element: torch.Tensor) -> str:
    """A number as short as its dtype allows without becoming another one."""
    value = element.item()
    if not isinstance(value, float) or not math.isfinite(value):
        return repr(value)
    for digits in range(1, 17):
        text = f"{value:.{digits}g}"
        if torch.equal(torch.tensor(float(text), dtype=torch.float64).to(element.dtype).double(), element.double()):
            return repr(float(text))
    return repr(value)


def _parts(tensor: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(_INTEGERS[tensor.element_size()]) if tensor.dtype != torch.bool else tensor


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """8-bit floats know no comparisons."""
    return tensor.to(torch.float32) if tensor.element_size() == 1 else tensor


def _largest_ulp(one: torch.Tensor, other: torch.Tensor) -> int | None:
    """Of two flat tensors: the number of representable values from one to the other."""
    if not bool(_wide(one).isfinite().all() and _wide(other).isfinite().all()):
        return None
    first, second = _ordered(one), _ordered(other)
    # The difference of two 64-bit orders can be too large for 64 bits where the signs differ: find the place in
    # double precision, which tells small differences exactly, and subtract there without a limit.
    same_sign = (first < 0) == (second < 0)
    apart = torch.where(same_sign, (first - second).abs().double(), first.double().abs() + second.double().abs())
    at = int(apart.argmax())
    return abs(int(first[at]) - int(second[at]))


def _ordered(tensor: torch.Tensor) -> torch.Tensor:
    """An integer for each number, in the order of the numbers, neighbours one apart; both zeros are 0."""
    bits = _bits(tensor).to(torch.int64)
    largest = (1 << (8 * tensor.element_size() - 1)) - 1
    magnitude = bits & largest
    return torch.where(bits < 0, -magnitude, magnitude)


def _is_within(one: torch.Tensor, other: torch.Tensor, tolerance: Tolerance) -> bool:
    first, second = one.double(), other.double()
    allowed = tolerance.absolute + tolerance.relative * first.abs()
    return bool((first.isfinite() & second.isfinite() & ((first - second).abs() <= allowed)).all())
