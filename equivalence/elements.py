"""The elements of tensors: ordinary ones, those at which programs go wrong, and draws of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

import torch

from gbfix.equivalence.example import Drawn, Listed
from gbfix.equivalence.forms import TensorForm
from gbfix.equivalence.tensor_recipes import dtype_of

LISTED = 8
"""Tensors of at most so many elements may have them drawn one by one, so that they shrink one by one."""

SEEDS = range(100)
_SCALES = (1.0, 10.0, 1e-3, 100.0, 1e-6, 1e3, 1e5)
_FRACTIONS = tuple(sign * n / 8 for n in (4, 12, 1, 20, 3, 9, 27) for sign in (1, -1))
ORDINARY = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, *_FRACTIONS, 0.1, -0.7, 10.0, -10.0, 100.0, -100.0, 1e3, -1e3, 1e-6)
_INDICES = range(len(ORDINARY))
_WAYS = 12
"""A multiple of the number of ways that each kind of tensor has."""

Values: TypeAlias = Listed | Drawn
_T = TypeVar("_T")


class Choose(Protocol):
    """Draws one of the options, the first of which is the simplest; `tag` tells the draws of an example apart."""

    def __call__(self, tag: str, options: Sequence[_T]) -> _T:
        """The option drawn."""
        ...


@dataclass(frozen=True)
class Special:
    """Elements for floating tensors of one kind, by name; `make` takes the dtype and the index of the odd element."""

    name: str
    make: Callable[[torch.finfo, int], Values]


def _at(number: Callable[[torch.finfo], float]) -> Callable[[torch.finfo, int], Values]:
    return lambda limits, index: Drawn(index, special=((index, number(limits)),))


def _everywhere(number: Callable[[torch.finfo], float]) -> Callable[[torch.finfo, int], Values]:
    return lambda limits, index: Drawn(index, scale=0.0, shift=number(limits))


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
    Special("a denormal at one place", _at(lambda limits: limits.smallest_normal / 2)),
    Special("a negative zero at one place", _at(lambda _: -0.0)),
    Special("NaN, infinities and -0.0", lambda _, i: Drawn(i, special=((0, math.nan), (1, math.inf), (2, -math.inf)))),
    Special("infinities and the largest", lambda limits, i: Drawn(i, special=((0, math.inf), (1, limits.max)))),
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


@dataclass(frozen=True)
class Draws:
    """What is drawn for every tensor, needed or not, as indices into options from simple to odd.

    way: how the elements are made. elements: of a small tensor. Hypothesis shrinks to few draws first, and would
    otherwise prefer an empty, an aliased or a random tensor to one of zeros.
    """

    way: int
    elements: tuple[int, ...]


def draws_of(choose: Choose, path: str) -> Draws:
    """The draws for the tensor with this path."""
    return Draws(
        choose(f"{path} way", range(_WAYS)), tuple(choose(f"{path} element {i}", _INDICES) for i in range(LISTED))
    )


def drawn_elements(
    choose: Choose, path: str, form: TensorForm, shape: tuple[int, ...], draws: Draws, *, special: bool
) -> Values:
    """Elements for a tensor: ordinary and finite, or (special) with something at which programs go wrong."""
    count = math.prod(shape)
    if count == 0:
        return Listed(())
    if form.dtype == "bool":
        return _mask(choose, path, count, draws)
    if form.integer:
        return _integers(choose, path, form, count, draws)
    if not form.floating:
        return Drawn(choose(f"{path} seed", SEEDS), choose(f"{path} scale", (1.0, 0.0, 100.0)))
    draw = _special_floats if special else _floats
    return draw(choose, path, form, count, draws)


def steered_elements(choose: Choose, path: str, scale: float, shift: float) -> Values:
    """Floating elements whose mean and spread come from draws that can be climbed."""
    return Drawn(choose(f"{path} seed", SEEDS), scale, shift)


def largest_ordinary(form: TensorForm) -> float:
    """The largest number that may be added up a few dozen times without overflow."""
    return min(1e5, torch.finfo(dtype_of(form.dtype)).max / 64)


def _floats(choose: Choose, path: str, form: TensorForm, count: int, draws: Draws) -> Values:
    largest = largest_ordinary(form)
    way = ("listed", "normal", "scaled", "shifted")[draws.way % 4]
    if way == "listed":
        return _listed([number for number in ORDINARY if abs(number) <= largest], draws, count)
    seed = choose(f"{path} seed", SEEDS)
    if way == "normal":
        return Drawn(seed)
    scale = choose(f"{path} scale", [scale for scale in _SCALES if scale <= largest])
    if way == "scaled":
        return Drawn(seed, scale)
    shifts = [sign * shift for shift in _SCALES if shift <= largest for sign in (1, -1)]
    return Drawn(seed, scale, choose(f"{path} shift", shifts))


def _special_floats(choose: Choose, path: str, form: TensorForm, count: int, draws: Draws) -> Values:
    limits = torch.finfo(dtype_of(form.dtype))
    tiny = limits.smallest_normal
    if draws.way % 2 == 0:
        odd = (math.nan, -0.0, math.inf, -math.inf, math.nan, tiny, -tiny / 4, limits.max, limits.min, limits.eps)
        return _listed((*ORDINARY[:7], *odd), draws, count)
    special = choose(f"{path} special", SPECIALS)
    found = special.make(limits, choose(f"{path} special index", range(50)) % count)
    if isinstance(found, Drawn) and found.special and draws.way % 4 == 1:
        return _with_special(_listed(ORDINARY[:7], draws, count), found.special)
    return found


def _mask(choose: Choose, path: str, count: int, draws: Draws) -> Values:
    way = ("listed", "all false", "all true", "mixed")[draws.way % 4]
    if way == "listed":
        return _listed((False, True), draws, count)
    if way == "mixed":
        return Drawn(choose(f"{path} seed", SEEDS), 1.0, choose(f"{path} shift", (0.0, 1.0, -1.0)))
    return Drawn(0, 0.0, 1.0 if way == "all true" else 0.0)


def _integers(choose: Choose, path: str, form: TensorForm, count: int, draws: Draws) -> Values:
    limits = torch.iinfo(dtype_of(form.dtype))
    low = max(limits.min, -9 if form.low is None else form.low)
    high = min(limits.max, 99 if form.high is None else form.high)
    numbers = sorted(range(low, high + 1), key=lambda n: (abs(n), n < 0))
    if form.high is None:
        numbers[3:3] = [limits.max, limits.min]
    way = ("listed", "drawn", "all equal")[draws.way % 3]
    if way == "listed":
        return _listed(numbers, draws, count)
    if way == "drawn":
        return _between(choose(f"{path} seed", SEEDS), low, high)
    return Drawn(0, 0.0, choose(f"{path} element", numbers))


def _listed(numbers: Sequence[float], draws: Draws, count: int) -> Values:
    """The drawn elements; in a larger tensor they are followed by more like the first."""
    elements = tuple(numbers[index % len(numbers)] for index in draws.elements)
    if count <= LISTED:
        return Listed(elements[:count])
    return Drawn(0, 0.0, elements[0], tuple(enumerate(elements)))


def _with_special(values: Values, special: Sequence[tuple[int, float]]) -> Values:
    if isinstance(values, Drawn):
        return replace(values, special=(*values.special, *special))
    numbers = dict(enumerate(values.numbers))
    numbers.update((index, number) for index, number in special if index in numbers)
    return Listed(tuple(numbers.values()))


def _between(seed: int, low: int, high: int) -> Values:
    return Drawn(seed, (high - low + 1) / 3, (low + high) / 2, (), low, high)
