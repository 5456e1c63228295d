"""Examples that are made from what is known of a target's calls."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hypothesis.strategies import SearchStrategy

from gbfix.equivalence.drawn_calls import drawn_calls
from gbfix.equivalence.elements import SPECIALS, Special, Values, ordinary_elements, special_elements
from gbfix.equivalence.example import Drawn, Example, Scalar
from gbfix.equivalence.feature import MOST_TENSORS, Feature
from gbfix.equivalence.features import features_of
from gbfix.equivalence.forms import CallForm, NumberForm, TensorForm, distinct, example_of, shape_of, tensors_of
from gbfix.equivalence.inputs import Inputs
from gbfix.equivalence.model import Raised
from gbfix.equivalence.signatures import Signature
from gbfix.equivalence.suggestions import suggested_by
from gbfix.equivalence.tensor_features import ALL_REQUIRE_GRAD

MOST_CORNERS = 40
MOST_VARIATIONS = 60
MOST_RECORDED = 8
"""Calls of which the elements of integer tensors are known that are tried as they were."""
_SPECIAL_CORNERS = 14
_HALF_CORNERS = (
    ("float16", "infinity at one place"),
    ("float16", "NaN at one place"),
    ("bfloat16", "infinity at one place"),
)
"""What programs that clamp half precision ask for in one condition: dtype and element."""
_CORNERS_OF = {
    "size": 4,
    "dtype": 4,
    "layout": 4,
    "alias": 2,
    "form": 3,
    "rank": 2,
    "grad": 1,
    "range": 1,
    "left out": 1,
    "dtype of one": 1,
    "size of one": 1,
    "rank of one": 1,
}
_FIRST_CALLS = (
    "rank",
    "form",
    "dtype",
    "range",
    "rank of one",
    "dtype of one",
    "left out",
    "size of one",
    "grad",
    "layout",
    "alias",
    "size",
)
"""Groups of features, the most likely first to make a call that was not taken one that is meant."""


_OF_FACTS = frozenset({"rank", "rank of one", "dtype", "dtype of one", "size of one"})
"""Groups of features that change what an observation of a tensor says."""


@dataclass(frozen=True)
class GeneratedInputs(Inputs):
    """Inputs of a signature. taken: names of the variations that the original takes, None when nothing was tried."""

    signature: Signature
    taken: frozenset[str] | None = None

    @property
    def origin(self) -> str:  # type: ignore[override]
        """Where the inputs come from."""
        return self.signature.origin

    def first(self) -> Example:
        """The first known call with ordinary elements."""
        return _ordinary(self._base)

    def fullest(self) -> Example:
        """The first call with all the tensors that the original takes."""
        return _ordinary(self._with_optional_tensors)

    def variations(self) -> tuple[tuple[str, Example], ...]:
        """One for each feature that alters the first call."""
        changed = ((feature.name, _ordinary(feature.change(self._base))) for feature in self.features)
        first = repr(self.first())
        return tuple((name, example) for name, example in changed if repr(example) != first)

    def accepting(self, taken: Collection[str]) -> GeneratedInputs:
        """The same inputs, with the knowledge of what the original takes."""
        return replace(self, taken=frozenset(taken))

    def starting_from(self, taken: Collection[str]) -> GeneratedInputs:
        """All calls changed in the way of those that is most like an ordinary call: of another rank, say, not empty."""
        features = sorted(self.features, key=lambda feature: _FIRST_CALLS.index(feature.group))
        found = [feature for feature in features if feature.name in taken]
        if not found:
            return self
        calls = distinct(found[0].change(call) for call in self.signature.calls)
        return GeneratedInputs(replace(self.signature, calls=calls))

    def mended(self, raised: Raised) -> Iterator[GeneratedInputs]:
        """With the first call changed as the exception suggests."""
        for call in suggested_by(self._base, raised):
            yield GeneratedInputs(replace(self.signature, calls=distinct((call, *self.signature.calls[1:]))))

    def corners(self) -> tuple[Example, ...]:
        """The ordinary call, special elements, then features that are taken, some of each group first."""
        taken = [feature for feature in self.features if self.takes(feature)]
        bases = (self._base, self._differentiable)
        found = [*self._value_corners()]
        found += [_ordinary(f.change(bases[i % 2]), seed=11) for i, f in enumerate(_some_of_each(taken))]
        return distinct(found)[:MOST_CORNERS]

    def of_sizes(self, sizes: Sequence[int]) -> tuple[Example, ...]:
        """Ordinary calls; what is free is known by the other size that was taken."""
        return distinct(
            _ordinary(self._base.with_sizes({symbol: size}), seed=12) for size in sizes for symbol in self._free
        )

    def strategy(self) -> SearchStrategy[Example]:
        """Known calls with some features changed; most with ordinary elements, a third with one special tensor."""
        known = self.signature
        return drawn_calls(known.calls, self.features, self.takes, module=known.module, modes=not known.as_recorded)

    def sequence(self) -> tuple[Example, Example, Example]:
        """Other shapes are the first taken other size."""
        free = [feature for feature in self.features if feature.symbol and self.takes(feature)]
        known = [call for call in self.signature.calls if _shapes(call) != _shapes(self._base)]
        last = known[0] if known else free[0].change(self._base) if free else self._base
        return _ordinary(self._base), _ordinary(self._base, seed=100), _ordinary(last, seed=200)

    @property
    def _free(self) -> list[str]:
        return [feature.symbol for feature in self.features if feature.symbol and self.takes(feature)]

    @property
    def _base(self) -> CallForm:
        return self.signature.calls[0]

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """What can be changed in the first call."""
        known = self.signature
        found = features_of(self._base, known.others, known.optional, known.floating)
        if known.as_recorded:
            required = any(form.requires_grad for call in known.calls for _, form in tensors_of(call))
            found = tuple(f for f in found if f.group not in _OF_FACTS and (required or f.group != "grad"))
        return tuple(_some_of_each(found)[:MOST_VARIATIONS])

    def takes(self, feature: Feature) -> bool:
        """The original returned when the feature was tried, or nothing was tried."""
        return self.taken is None or feature.name in self.taken

    @property
    def _differentiable(self) -> CallForm:
        """The first call with gradients of all tensors, where the original takes that."""
        grad = next((f for f in self.features if f.name == ALL_REQUIRE_GRAD and self.takes(f)), None)
        return grad.change(self._base) if grad else self._base

    @property
    def _with_optional_tensors(self) -> CallForm:
        """The first call with tensors for arguments that have none in it, where the original takes them."""
        call = self._base
        for feature in self.features:
            more = feature.change(call)
            if feature.group == "form" and self.takes(feature) and len(_shapes(more)) > len(_shapes(call)):
                call = more
        return call

    def _value_corners(self) -> Iterator[Example]:
        base, trained = self._base, self._differentiable
        yield _ordinary(base)
        for call in self.signature.calls[1:MOST_RECORDED]:
            if any(form.elements for _, form in tensors_of(call)):
                yield _ordinary(call)
        for index, special in enumerate(SPECIALS[:_SPECIAL_CORNERS]):
            yield _filled(trained if index % 2 else base, special)
            if index == 0:
                yield from _zeros_in_one(self._with_optional_tensors)
        yield _filled(trained, SPECIALS[0])
        for dtype, name in _HALF_CORNERS:
            for feature in (each for each in self.features if each.name == dtype and self.takes(each)):
                yield _filled(feature.change(base), next(special for special in SPECIALS if special.name == name))
        yield _ordinary(trained, seed=7)
        if not self.signature.as_recorded:
            yield _ordinary(replace(trained, grad_enabled=False), seed=8)
        for on in (1.0, 0.0):
            yield _masked(base, on)
        if self.signature.module:
            if not self.signature.as_recorded:
                yield _ordinary(replace(trained, training=not base.training), seed=9)
            yield _ordinary(replace(trained, module_seed=1), seed=10)


def _shapes(call: CallForm) -> list[tuple[int, ...]]:
    return [shape_of(form, call) for _, form in tensors_of(call)]


def _first_number(_: str, form: NumberForm) -> Scalar:
    return form.values[0]


def _seed(path: str, seed: int) -> int:
    """The same for the same path in each process, unlike hash()."""
    return seed + sum(map(ord, path)) % 97


def _ordinary(call: CallForm, seed: int = 0) -> Example:
    """With the elements of integer tensors that were recorded, for another seed with others."""
    call = call.with_any_elements() if seed else call
    return example_of(call, lambda path, form, shape: ordinary_elements(form, shape, _seed(path, seed)), _first_number)


def _filled(call: CallForm, special: Special) -> Example:
    """All floating tensors with the special elements, the odd one at another place in each."""

    def values(path: str, form: TensorForm, shape: tuple[int, ...]) -> Values:
        seed = _seed(path, 0)
        found = special_elements(form, special, seed % max(math.prod(shape), 1))
        return ordinary_elements(form, shape, seed) if found is None else found

    return example_of(call, values, _first_number)


def _zeros_in_one(call: CallForm) -> Iterator[Example]:
    """Each of several tensors all zeros, or false, with ordinary elements in the others."""
    call = call.with_any_elements()
    paths = [path for path, form in tensors_of(call) if not form.dtype.startswith("complex")]
    for zero in paths[:MOST_TENSORS] if len(paths) > 1 else []:
        yield example_of(
            call,
            lambda path, form, shape, zero=zero: (  # type: ignore[misc]
                Drawn(0, 0.0) if path == zero else ordinary_elements(form, shape, _seed(path, 0))
            ),
            _first_number,
        )


def _masked(call: CallForm, on: float) -> Example:
    """All masks, bool or integer ones by that name, true (1.0) or false (0.0)."""

    def values(path: str, form: TensorForm, shape: tuple[int, ...]) -> Values:
        is_mask = form.dtype == "bool" or (form.integer and "mask" in path)
        return Drawn(0, 0.0, on) if is_mask else ordinary_elements(form, shape, _seed(path, 0))

    return example_of(call.with_any_elements(), values, _first_number)


def _some_of_each(features: Sequence[Feature]) -> list[Feature]:
    """All, the first of each group in front, so that a limit cuts no group off."""
    groups: dict[str, list[Feature]] = {}
    for feature in features:
        groups.setdefault(feature.group, []).append(feature)
    front = [feature for group, count in _CORNERS_OF.items() for feature in groups.get(group, [])[:count]]
    return [*front, *(feature for feature in features if feature not in front)]
