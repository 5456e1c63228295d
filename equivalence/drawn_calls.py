"""The Hypothesis strategy of calls: a known call, some sizes, numbers and features changed, then the elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hypothesis import strategies as st

from gbfix.equivalence.elements import Choose, Values, drawn_elements, draws_of, largest_ordinary, steered_elements
from gbfix.equivalence.example import Example
from gbfix.equivalence.feature import GROUPS, Feature
from gbfix.equivalence.features import other_number
from gbfix.equivalence.forms import CallForm, NumberForm, TensorForm, example_of, shape_of, tensors_of
from gbfix.equivalence.tensor_features import ALL_REQUIRE_GRAD

MOST_ELEMENTS = 100_000
"""Of all tensors of a drawn example together, where sizes are free to be smaller."""

_SIZES = (2, 3, 4, 5, 7, 8, 9, 16, 17, 33)
_MANNERS = ("ordinary",) * 5 + ("steered",) * 2 + ("one special",) * 3 + ("all special",)
_MOST_CHOSEN = 12
"""Of calls with more floating tensors, the later ones are never the only special one."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class _Tagged:
    """Chooses with a Hypothesis strategy of its own for each tag.

    After the first few examples Hypothesis makes five of six by copying one draw over another draw of the same kind of
    strategy. That gives equal elements, and next to no new calls. Draws whose options differ are not of the same kind.
    """

    draw: st.DrawFn

    def __call__(self, tag: str, options: Sequence[_T]) -> _T:
        return self.draw(st.sampled_from([(tag, option) for option in options]))[1]


@st.composite
def drawn_calls(
    draw: st.DrawFn,
    calls: Sequence[CallForm],
    features: Sequence[Feature],
    takes: Callable[[Feature], bool],
    *,
    module: bool,
    modes: bool = True,
) -> Example:
    """Examples that shrink to the first call with small, ordinary elements.

    Two of three have ordinary elements only; in the others one tensor has special ones, or all have. About one in ten
    has a feature that the original does not take. module: the target is one. modes: change grad and training mode, too.
    """
    choose = _Tagged(draw)
    taken = [feature for feature in features if takes(feature)]
    call = choose("call", calls)
    if choose("elements", ("as recorded", "any")) == "any":
        call = call.with_any_elements()
    draws = {path: draws_of(choose, path) for path, _ in tensors_of(call)}
    free = {feature.symbol for feature in taken if feature.symbol}
    call = _with_other_sizes(choose, call, free)
    call = _with_other_numbers(choose, call, {feature.name for feature in taken})
    call = _with_features(choose, call, taken, [feature for feature in features if not takes(feature)])
    call = _limited(_with_modes(choose, call, module=module, flip=modes), free)
    floating = {path: form for path, form in tensors_of(call) if form.floating}
    manner = choose("manner", _MANNERS)
    index = choose("chosen", range(_MOST_CHOSEN))
    chosen = sorted(floating)[index % len(floating)] if floating else ""
    scale, shift = 1.0, 0.0
    if manner == "steered" and floating:
        limit = min(largest_ordinary(floating[chosen]), 1e4)
        scale, shift = draw(st.integers(0, 10_000)) / 100, draw(st.floats(-limit, limit))

    def values(path: str, form: TensorForm, shape: tuple[int, ...]) -> Values:
        if manner == "steered" and path == chosen:
            return steered_elements(choose, path, scale, shift)
        special = manner == "all special" or (manner == "one special" and path == chosen)
        drawn = draws.get(path) or draws_of(choose, path)
        return drawn_elements(choose, path, form, shape, drawn, special=special)

    return example_of(call, values, lambda path, form: choose(f"{path} number", form.values))


def _with_other_sizes(choose: Choose, call: CallForm, free: set[str]) -> CallForm:
    """Free sizes changed, each in half of the examples."""
    known = (None,) * len(_SIZES)
    drawn = {symbol: choose(f"size {symbol}", (*known, *_SIZES)) for symbol, _ in call.sizes if symbol in free}
    return call.with_sizes({symbol: size for symbol, size in drawn.items() if size is not None})


def _with_other_numbers(choose: Choose, call: CallForm, taken: set[str]) -> CallForm:
    """Numbers that may be others changed, each in a quarter of the examples; negative ones where such are taken."""
    for name, form in call.arguments:
        if not isinstance(form, NumberForm) or other_number(name) not in taken:
            continue
        numbers: list[int | float]
        if type(form.values[0]) is int:
            numbers = [n for n in range(17) if f"{name}=0" in taken or n]
            numbers += [-n for n in range(1, 9) if f"{name}=-1" in taken]
        else:
            numbers = [0.25, 0.9, 1.0, 2.0, 3.5, 10.0, 1e-6, 1e3]
            numbers += [-n for n in numbers if f"{name}=-1.5" in taken]
        other = choose(f"other {name}", (*(None,) * 3 * len(numbers), *numbers))
        call = call if other is None else call.with_argument(name, NumberForm((other,)))
    return call


def _with_features(choose: Choose, call: CallForm, taken: Sequence[Feature], others: Sequence[Feature]) -> CallForm:
    """Up to three features, each group of them as often as another; gradients often, what is not taken rarely.

    As many draws for none as for some, so that one can be dropped in shrinking without a shift of all that follow.
    """
    groups = [[feature for feature in taken if feature.group == group] for group in GROUPS]
    most = max(map(len, groups))
    even = [feature for members in groups for feature in members * (most // max(len(members), 1))]
    chosen = [_one_or_none(choose, f"feature {index}", even, len(even)) for index in range(3)]
    gradients = [feature for feature in taken if feature.name == ALL_REQUIRE_GRAD]
    chosen.append(_one_or_none(choose, "gradients", gradients * 2, 3))
    chosen.append(_one_or_none(choose, "beyond", others, 7 * len(others)))
    for feature in sorted(filter(None, chosen), key=lambda feature: GROUPS.index(feature.group)):
        call = feature.change(call)
    return call


def _one_or_none(choose: Choose, tag: str, features: Sequence[Feature], none: int) -> Feature | None:
    """A feature, or None as often as `none` features would come."""
    if not features:
        return None
    index = choose(tag, range(none + len(features))) - none
    return features[index] if index >= 0 else None


def _with_modes(choose: Choose, call: CallForm, *, module: bool, flip: bool) -> CallForm:
    if flip and choose("grad mode", ("on",) * 6 + ("off",)) == "off":
        call = replace(call, grad_enabled=False)
    if module:
        flip = flip and choose("training", ("as known", "other")) == "other"
        seed = choose("module seed", (0, 0, 1, 2))
        call = replace(call, training=call.training is not flip, module_seed=seed)
    return call


def _limited(call: CallForm, free: set[str]) -> CallForm:
    """The call with the largest free sizes cut until its tensors have no more than `MOST_ELEMENTS` together."""
    while sum(math.prod(shape_of(form, call)) for _, form in tensors_of(call)) > MOST_ELEMENTS:
        sizes = {symbol: size for symbol, size in call.sizes if symbol in free and size > 3}
        if not sizes:
            break
        call = call.with_sizes({max(sizes, key=lambda symbol: sizes[symbol]): 3})
    return call
