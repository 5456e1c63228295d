"""The Hypothesis strategy of calls: a known call, some sizes, numbers and features changed, then the elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from gbfix.equivalence.elements import Values, elements
from gbfix.equivalence.example import Example
from gbfix.equivalence.features import Feature, other_number
from gbfix.equivalence.forms import CallForm, NumberForm, TensorForm, example_of, shape_of, tensors_of

MOST_ELEMENTS = 100_000
"""Of all tensors of a drawn example together, where sizes are free to be smaller."""

_SIZES = (2, 3, 4, 5, 7, 8, 9, 16, 17, 33)
_GROUPS = ("form", "rank", "dtype", "range", "size", "layout", "grad", "alias", "left out")
"""In the order in which changes are made, since an alias needs equal shapes and dtypes."""

_GRADIENTS = "requires grad"


@st.composite
def drawn_calls(
    draw: st.DrawFn,
    calls: Sequence[CallForm],
    features: Sequence[Feature],
    takes: Callable[[Feature], bool],
    *,
    module: bool,
) -> Example:
    """Examples that shrink to the first call with small, ordinary elements.

    Six in ten have ordinary elements only, three have one tensor with special ones, one has all tensors so. About one
    in ten has a feature that the original does not take.
    """
    taken = [feature for feature in features if takes(feature)]
    call = draw(st.sampled_from(calls))
    free = {feature.symbol for feature in taken if feature.symbol}
    call = _with_other_sizes(draw, call, free)
    call = _with_other_numbers(draw, call, {feature.name for feature in taken})
    call = _with_features(draw, call, taken, [feature for feature in features if not takes(feature)])
    call = _limited(_with_modes(draw, call, module=module), free)
    manner = draw(st.sampled_from(("ordinary",) * 6 + ("one special",) * 3 + ("special",)))
    chosen = {path for path, _ in tensors_of(call)} if manner != "ordinary" else set()
    if chosen and manner == "one special":
        chosen = {draw(st.sampled_from(sorted(chosen)))}

    def values(path: str, form: TensorForm, shape: tuple[int, ...]) -> Values:
        return draw(elements(form, shape, special=path in chosen))

    return example_of(call, values, lambda _, form: draw(st.sampled_from(form.values)))


def _with_other_sizes(draw: st.DrawFn, call: CallForm, free: set[str]) -> CallForm:
    """Free sizes changed, in half of the examples."""
    symbols = [symbol for symbol, _ in call.sizes if symbol in free]
    if not symbols or not draw(st.booleans()):
        return call
    return call.with_sizes({symbol: draw(st.sampled_from(_SIZES)) for symbol in symbols})


def _with_other_numbers(draw: st.DrawFn, call: CallForm, taken: set[str]) -> CallForm:
    """Numbers that may be others changed, each in a quarter of the examples; negative ones where such are taken."""
    for name, form in call.arguments:
        if not isinstance(form, NumberForm) or other_number(name) not in taken or draw(st.integers(0, 3)) < 3:
            continue
        if type(form.values[0]) is int:
            numbers = st.integers(-8 if f"{name}=-1" in taken else 1, 16)
            call = call.with_argument(name, NumberForm((draw(numbers),)))
        else:
            lowest = -10.0 if f"{name}=-1.5" in taken else 0.0
            call = call.with_argument(name, NumberForm((draw(st.floats(lowest, 10.0)),)))
    return call


def _with_features(draw: st.DrawFn, call: CallForm, taken: Sequence[Feature], others: Sequence[Feature]) -> CallForm:
    groups = {group: [feature for feature in taken if feature.group == group] for group in _GROUPS}
    names = [group for group, members in groups.items() if members]
    count = draw(st.sampled_from((0, 0, 0, 1, 1, 1, 2, 2, 3))) if names else 0
    chosen = [draw(st.sampled_from(groups[draw(st.sampled_from(names))])) for _ in range(count)]
    gradients = [feature for feature in taken if feature.name == _GRADIENTS]
    if gradients and draw(st.integers(0, 9)) >= 6:
        chosen.append(gradients[0])
    if others and draw(st.integers(0, 9)) == 9:
        chosen.append(draw(st.sampled_from(others)))
    for feature in sorted(chosen, key=lambda feature: _GROUPS.index(feature.group)):
        call = feature.change(call)
    return call


def _with_modes(draw: st.DrawFn, call: CallForm, *, module: bool) -> CallForm:
    if draw(st.integers(0, 6)) == 6:
        call = replace(call, grad_enabled=False)
    if module:
        flip = draw(st.booleans())
        seed = draw(st.sampled_from((0, 0, 1, 2)))
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
