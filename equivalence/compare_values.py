"""Two described values: where they differ, and how a value reads in one line."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gbfix.equivalence.model import Described, Difference, TensorFacts, Tolerance
from gbfix.equivalence.parts import path
from gbfix.equivalence.ulp import differing, elements

_SHOWN = 8
_ROUNDING = {
    "float16": Tolerance(1e-3, 1e-5),
    "bfloat16": Tolerance(1.6e-2, 1e-5),
    "float32": Tolerance(1.3e-6, 1e-5),
    "float64": Tolerance(1e-7, 1e-7),
    "complex64": Tolerance(1.3e-6, 1e-5),
    "complex128": Tolerance(1e-7, 1e-7),
}
"""What torch.testing.assert_close allows, as its documentation says."""


class ValueComparison:
    """Walks two descriptions side by side."""

    def __init__(self, tolerance: Tolerance | None, *, rounding: bool = False) -> None:
        """rounding: what is usual for the dtype is within, whatever the tolerance."""
        self._tolerance = tolerance
        self._rounding = rounding

    def walk(self, one: Described, other: Described, where: str, *, gradient: bool = False) -> Iterator[Difference]:
        """The differences of two values, by place. gradient: strides and the sign of a zero do not count."""
        if one == other:
            return
        if (one.kind, one.type) != (other.kind, other.type):
            yield self._kind(one, other, where)
            if one.tensor is None or other.tensor is None:
                return
        if one.same_as != other.same_as:
            yield Difference("identity", where, _identity(one), _identity(other))
        if one.shares != other.shares:
            yield Difference("memory", where, _sharing(one), _sharing(other))
        if one.tensor is not None and other.tensor is not None:
            yield from self._tensor(one, other, where, gradient)
        elif one.text != other.text:
            yield self._scalar(one, other, where)
        yield from self._items(one, other, where, gradient)

    def _kind(self, one: Described, other: Described, where: str) -> Difference:
        if "same" in (one.kind, other.kind) and one.type == other.type:
            return Difference("identity", where, _identity(one), _identity(other))
        return Difference("type", where, _kind_and_value(one), _kind_and_value(other))

    def _items(self, one: Described, other: Described, where: str, gradient: bool) -> Iterator[Difference]:
        first, second = [key for key, _ in one.items], [key for key, _ in other.items]
        if not _same_keys(one, other):
            yield Difference("keys", where, _keys(first, second), _keys(second, first))
        if len(set(first)) < len(first) and first == second:  # Keys that cannot be told apart by their text.
            pairs = [(key, one.items[at][1], other.items[at][1]) for at, key in enumerate(first)]
        else:
            others = dict(other.items)
            pairs = [(key, item, others[key]) for key, item in one.items if key in others]
        for key, mine, theirs in pairs:
            yield from self.walk(mine, theirs, path(where, key), gradient=gradient)

    def _scalar(self, one: Described, other: Described, where: str) -> Difference:
        tolerance = self._tolerance_of("float64")
        within = one.type == "float" and tolerance is not None and _is_close(one.text, other.text, tolerance)
        aspect = "random" if one.text.startswith("state ") else "value"
        return Difference(aspect, where, one.text, other.text, within=within)

    def _tensor(self, one: Described, other: Described, where: str, gradient: bool) -> Iterator[Difference]:
        first, second = one.tensor, other.tensor
        assert first is not None
        assert second is not None
        for aspect in ("dtype", "shape", "device"):
            if getattr(first, aspect) != getattr(second, aspect):
                yield Difference(aspect, where, _fact(getattr(first, aspect)), _fact(getattr(second, aspect)))
        if first.layout != second.layout or (not gradient and _strides(first) != _strides(second)):
            yield Difference("strides", where, _layout(first), _layout(second))
        if _grad(first) != _grad(second):
            yield Difference("requires_grad", where, _grad(first), _grad(second))
        if (first.dtype, first.shape) == (second.dtype, second.shape):
            yield from self._elements(one, other, first, second, where, gradient)

    def _elements(
        self, one: Described, other: Described, first: TensorFacts, second: TensorFacts, where: str, gradient: bool
    ) -> Iterator[Difference]:
        # How many elements a sparse gradient stores depends on how it was summed.
        other_text = one.text != other.text and first.layout == second.layout and not gradient
        if first.data == second.data and not other_text:
            return
        mine, theirs = elements(first), elements(second)
        if other_text or "digest" in (one.text, other.text) or mine is None or theirs is None:
            yield Difference("value", where, f"{short(one)} {one.text}".strip(), f"{short(other)} {other.text}".strip())
            return
        found = differing(mine, theirs, self._tolerance_of(first.dtype), signed_zeros=not gradient)
        if found is None:
            return
        place = f"{found.count} of {found.of} elements: {list(found.first)} " if found.of > 1 or found.first else ""
        yield Difference("value", where, place + found.original, found.rewritten, ulp=found.ulp, within=found.within)

    def _tolerance_of(self, dtype: str) -> Tolerance | None:
        return _ROUNDING.get(dtype) if self._rounding else self._tolerance


def kind_of(value: Described) -> str:
    """The class of a value as people write it."""
    return value.type.removeprefix("torch.nn.parameter.").removeprefix("torch.")


def short(value: Described | None) -> str:
    """A value in a few words: "float32[2, 3]", "list of 3", "2.0"."""
    if value is None:
        return "None"
    if value.kind == "same":
        return f"the same object as {value.same_as}"
    if value.tensor is not None:
        facts = value.tensor
        numbers = elements(facts) if not value.text else None
        shown = f" {numbers.flatten().tolist()}" if numbers is not None and numbers.numel() <= _SHOWN else ""
        return f"{facts.dtype}{list(facts.shape)}{shown}"
    if value.kind in ("container", "object"):
        return f"{kind_of(value)} of {len(value.items)}"
    return value.text[:200] or kind_of(value)


def _kind_and_value(value: Described) -> str:
    text = short(value)
    return text if text.startswith(kind_of(value)) else f"{kind_of(value)} {text}".strip()


def _identity(value: Described) -> str:
    return f"the same object as {value.same_as}" if value.same_as else "an object of its own"


def _sharing(value: Described) -> str:
    return f"memory of {', '.join(value.shares)}" if value.shares else "memory of its own"


def _same_keys(one: Described, other: Described) -> bool:
    """True where both have the same keys, in an order that matters: of attributes, that of tensors and modules alone.

    An optimizer gets parameters in their order; nobody asks in which order plain attributes were set.
    """
    if one.kind == "function":  # which variables it holds on to is up to its text
        return True
    first, second = [key for key, _ in one.items], [key for key, _ in other.items]
    if one.kind not in ("module", "object") or sorted(first) != sorted(second):
        return first == second
    return _ordered(one) == _ordered(other)


def _ordered(value: Described) -> list[str]:
    return [key for key, item in value.items if item.kind in ("tensor", "module")]


def _keys(keys: list[str], others: list[str]) -> str:
    if sorted(keys) == sorted(others):
        return f"in the order {', '.join(keys)}"
    if all(key.isdigit() for key in (*keys, *others)):
        return f"{len(keys)} items"
    extra = [key for key in keys if key not in others]
    return f"with {', '.join(extra)}" if extra else f"without {', '.join(key for key in others if key not in keys)}"


def _fact(value: object) -> str:
    return str(list(value) if isinstance(value, tuple) else value)


def _strides(facts: TensorFacts) -> tuple[int, ...]:
    """Those that matter: a dimension of size 1, and a tensor without elements, can have any."""
    if 0 in facts.shape:
        return ()
    return tuple(stride for size, stride in zip(facts.shape, facts.strides, strict=False) if size > 1)


def _layout(facts: TensorFacts) -> str:
    return f"{list(facts.strides)}" if facts.layout == "strided" else f"{facts.layout} {list(facts.strides)}".strip()


def _grad(facts: TensorFacts) -> str:
    if facts.requires_grad:
        return f"True{' (a leaf)' if facts.is_leaf else ''}"
    return "False (an inference tensor)" if facts.inference else "False"


def _is_close(one: str, other: str, tolerance: Tolerance) -> bool:
    first, second = float(one), float(other)
    if not (math.isfinite(first) and math.isfinite(second)):
        return False
    return abs(first - second) <= tolerance.absolute + tolerance.relative * abs(first)
