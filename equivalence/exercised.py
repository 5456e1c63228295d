"""What the examples of a check covered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import fields

import torch

from gbfix.equivalence.example import Example
from gbfix.equivalence.model import Described, Exercised, Observation, TensorFacts
from gbfix.equivalence.tensor_recipes import dtype_of
from gbfix.equivalence.ulp import elements

_HALF = frozenset({"float16", "bfloat16"})
_INTEGERS = frozenset({"uint8", "int8", "int16", "int32", "int64", "bool"})


class Tally:
    """Counts examples by what they exercised."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    @property
    def examples(self) -> int:
        """How many were counted."""
        return self._counts["examples"]

    def add(self, example: Example, original: Observation) -> None:
        """Count one example, with what the original did in eager mode."""
        self._counts["examples"] += 1
        self._counts["raised" if original.raised else "returned"] += 1
        self._counts.update(_features(example, original))

    def add_compiled(self) -> None:
        """The last example was run compiled, too."""
        self._counts["compiled"] += 1

    def exercised(self) -> Exercised:
        """The counts."""
        return Exercised(**{field.name: self._counts[field.name] for field in fields(Exercised)})


def kind_of(example: Example, original: Observation) -> Hashable:
    """What decides whether an example is worth compiling: other graphs are to be expected of another kind."""
    outcomes = frozenset((taken.index, taken.outcome) for taken in original.branches)
    raised = original.raised.type if original.raised else ""
    dtypes = tuple(tensor.dtype for tensor in _tensors(original.arguments))
    return outcomes, raised, dtypes, frozenset(_features(example, original)), example.training


def _features(example: Example, original: Observation) -> set[str]:
    """Of the arguments, which are described after the call: only a value that the call writes over is missed.

    Integers are in place of floats, not indices or a mask beside them.
    """
    tensors = list(_tensors(original.arguments))
    tests = {
        "gradients": bool(original.gradients),
        "grad_off": not example.grad_enabled,
        "non_contiguous": any(_is_spread(tensor) for tensor in tensors),
        "half": any(tensor.dtype in _HALF for tensor in tensors),
        "integers": bool(tensors) and all(tensor.dtype in _INTEGERS for tensor in tensors),
        "aliased": any(part.same_as or part.shares for part in _parts(original.arguments)),
        "empty": any(0 in tensor.shape for tensor in tensors),
        "special": any(_is_special(tensor) for tensor in tensors),
        "no_floats": original.raised is not None or not any(_is_floating(tensor) for tensor in tensors),
    }
    return {name for name, holds in tests.items() if holds}


def _tensors(arguments: Described | None) -> Iterator[TensorFacts]:
    return (part.tensor for part in _parts(arguments) if part.tensor is not None)


def _parts(described: Described | None) -> Iterator[Described]:
    if described is None:
        return
    yield described
    for _, item in described.items:
        yield from _parts(item)


def _is_spread(tensor: TensorFacts) -> bool:
    expected = 1
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.strides), strict=True):
        if size > 1 and stride != expected:
            return True
        expected *= size
    return False


def _is_floating(tensor: TensorFacts) -> bool:
    dtype = dtype_of(tensor.dtype)
    return dtype.is_floating_point or dtype.is_complex


def _is_special(tensor: TensorFacts) -> bool:
    found = elements(tensor)
    return found is not None and not bool(torch.isfinite(found).all())
