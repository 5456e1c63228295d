"""The elements of tensors: ordinary ones, those at which programs go wrong, and Hypothesis strategies of both."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from hypothesis import strategies as st

from gbfix.equivalence.example import Drawn, Listed
from gbfix.equivalence.forms import TensorForm
from gbfix.equivalence.tensors import dtype_of

LISTED = 8
"""Tensors of at most so many elements have them drawn one by one, so that they shrink one by one."""

Values = Listed | Drawn

_WIDTHS = {"float16": 16, "float32": 32, "float64": 64}


@dataclass(frozen=True)
class Special:
    """Elements for floating tensors of one kind, by name; `make` takes the dtype and the index of the odd element."""

    name: str
    make: Callable[[torch.finfo, int], Values]


def _at(number: Callable[[torch.finfo], float]) -> Callable[[torch.finfo, int], Values]:
    return lambda limits, index: Drawn(index, special=((index, number(limits)),))


def _everywhere(number: Callable[[torch.finfo], float]) -> Callable[[torch.finfo, int], Values]:
    return lambda limits, index: Drawn(index, scale=0.0, shift=number(limits))


def _denormal(limits: torch.finfo) -> float:
    return limits.smallest_normal / 2


SPECIALS = (
    Special("zeros", _everywhere(lambda _: 0.0)),
    Special("NaN at one place", _at(lambda _: math.nan)),
    Special("negative zeros", _everywhere(lambda _: -0.0)),
    Special("negative", lambda _, index: Drawn(index, 1.0, -5.0)),
    Special("positive", lambda _, index: Drawn(index, 1.0, 5.0)),
    Special("infinity at one place", _at(lambda _: math.inf)),
    Special("all equal", _everywhere(lambda _: 1.0)),
    Special("NaN everywhere", _everywhere(lambda _: math.nan)),
    Special("-infinity at one place", _at(lambda _: -math.inf)),
    Special("large", lambda limits, index: Drawn(index, min(1e5, limits.max / 64))),
    Special("small", lambda limits, index: Drawn(index, max(1e-6, limits.smallest_normal * 4))),
    Special("denormals", lambda limits, index: Drawn(index, limits.smallest_normal / 8)),
    Special("largest of the dtype", _everywhere(lambda limits: limits.max)),
    Special("lowest of the dtype at one place", _at(lambda limits: limits.min)),
    Special("infinities", _everywhere(lambda _: math.inf)),
    Special("a denormal at one place", _at(_denormal)),
    Special("a negative zero at one place", _at(lambda _: -0.0)),
    Special("NaN, infinities and -0.0", lambda _, i: Drawn(i, special=((0, math.nan), (1, math.inf), (2, -math.inf)))),
)


def ordinary_elements(form: TensorForm, shape: tuple[int, ...], seed: int) -> Values:
    """Normal numbers, indices for an integer tensor, a mixed mask: always the same for the same seed."""
    if form.dtype == "bool":
        return Drawn(seed)
    if form.integer:
        return _between(seed, form.low or 0, 9 if form.high is None else form.high)
    if math.prod(shape) <= LISTED:
        generator = torch.Generator().manual_seed(seed)
        numbers = torch.randn(math.prod(shape), generator=generator, dtype=torch.float64)
        return Listed(tuple(float(f"{number:.1f}") or 1.0 for number in numbers.tolist()))
    return Drawn(seed)


def special_elements(form: TensorForm, special: Special, index: int) -> Values | None:
    """The special elements for a floating tensor, None for another."""
    return special.make(torch.finfo(dtype_of(form.dtype)), index) if form.floating else None


def elements(form: TensorForm, shape: tuple[int, ...], *, special: bool) -> st.SearchStrategy[Values]:
    """Elements for a tensor: ordinary and finite, or (special) with something at which programs go wrong."""
    count = math.prod(shape)
    if count == 0:
        return st.just(Listed(()))
    if form.dtype == "bool":
        return _masks(count)
    if form.integer:
        return _integers(form, count, special=special)
    if not form.floating:
        return st.builds(Drawn, _SEEDS, st.sampled_from((1.0, 0.0, 100.0)))
    return _special_floats(form, count) if special else _floats(form, count)


_SEEDS = st.integers(0, 999)
_SCALES = (1.0, 10.0, 1e-3, 100.0, 1e-6, 1e3, 1e5)


def _floats(form: TensorForm, count: int) -> st.SearchStrategy[Values]:
    largest = torch.finfo(dtype_of(form.dtype)).max / 64
    scales = [scale for scale in _SCALES if scale <= largest]
    signed = [0.0, *(sign * scale for scale in scales for sign in (1, -1))]
    limit = min(1e4, largest)
    drawn: list[st.SearchStrategy[Values]] = [
        st.builds(Drawn, _SEEDS),
        st.builds(Drawn, _SEEDS, st.sampled_from(scales), st.sampled_from(signed)),
        st.builds(Drawn, _SEEDS, st.floats(0.0, 100.0), st.floats(-limit, limit)),
    ]
    if count > LISTED:
        return st.one_of(drawn)
    number = st.one_of(st.integers(-3, 3).map(float), st.floats(-10, 10), st.floats(-limit, limit))
    return st.one_of(st.lists(number, min_size=count, max_size=count).map(_listed), *drawn)


def _listed(numbers: list[float]) -> Values:
    return Listed(tuple(numbers))


def _special_floats(form: TensorForm, count: int) -> st.SearchStrategy[Values]:
    limits = torch.finfo(dtype_of(form.dtype))
    tiny = limits.smallest_normal
    pool = (0.0, 1.0, math.nan, -0.0, math.inf, -math.inf, -1.0, tiny, -tiny / 4, limits.max, limits.min, limits.eps)
    named = st.builds(
        lambda special, index: special.make(limits, index), st.sampled_from(SPECIALS), st.integers(0, count - 1)
    )
    if count > LISTED:
        return named
    width = st.floats(width=_WIDTHS.get(form.dtype, 32))  # type: ignore[arg-type]
    number = st.one_of(st.sampled_from(pool), st.integers(-3, 3).map(float), width)
    return st.one_of(st.lists(number, min_size=count, max_size=count).map(_listed), named)


def _masks(count: int) -> st.SearchStrategy[Values]:
    uniform = st.sampled_from((0.0, 1.0)).map(lambda shift: Drawn(0, 0.0, shift))
    mixed: st.SearchStrategy[Values] = st.builds(Drawn, _SEEDS, st.just(1.0), st.sampled_from((0.0, 1.0, -1.0)))
    if count <= LISTED:
        mixed = st.lists(st.booleans(), min_size=count, max_size=count).map(lambda flags: Listed(tuple(flags)))
    return st.one_of(mixed, uniform, mixed)


def _integers(form: TensorForm, count: int, *, special: bool) -> st.SearchStrategy[Values]:
    limits = torch.iinfo(dtype_of(form.dtype))
    low = max(limits.min, -9 if form.low is None else form.low)
    high = min(limits.max, 99 if form.high is None else form.high)
    number = st.integers(low, high)
    if special and form.high is None:
        number = st.one_of(number, st.sampled_from((limits.min, limits.max)))
    drawn: st.SearchStrategy[Values] = _SEEDS.map(lambda seed: _between(seed, low, high))
    equal: st.SearchStrategy[Values] = number.map(lambda n: Drawn(0, 0.0, n))
    if count > LISTED:
        return st.one_of(drawn, drawn, equal)
    listed = st.lists(number, min_size=count, max_size=count).map(lambda numbers: Listed(tuple(numbers)))
    return st.one_of(listed, drawn, listed, equal)


def _between(seed: int, low: int, high: int) -> Values:
    return Drawn(seed, (high - low + 1) / 3, (low + high) / 2, (), low, high)
