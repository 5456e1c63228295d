"""What the examples of a check covered."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import fields

from gbfix.equivalence.example import Container, Example, Listed, Recipe, SameAs, TensorRecipe
from gbfix.equivalence.model import Exercised, Observation

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
    tensors = tuple(_tensors(example))
    raised = original.raised.type if original.raised else ""
    dtypes = tuple(tensor.dtype for tensor in tensors)
    return outcomes, raised, dtypes, frozenset(_features(example, original)), example.training


def _features(example: Example, original: Observation) -> set[str]:
    tensors = list(_tensors(example))
    tests = {
        "gradients": bool(original.gradients),
        "grad_off": not example.grad_enabled,
        "non_contiguous": any(tensor.layout not in ("contiguous", "offset") for tensor in tensors),
        "half": any(tensor.dtype in _HALF for tensor in tensors),
        "integers": any(tensor.dtype in _INTEGERS for tensor in tensors),
        "aliased": any(isinstance(recipe, SameAs) for recipe in _recipes(example)),
        "empty": any(0 in tensor.shape for tensor in tensors),
        "special": any(_is_special(tensor) for tensor in tensors),
    }
    return {name for name, holds in tests.items() if holds}


def _tensors(example: Example) -> Iterator[TensorRecipe]:
    return (recipe for recipe in _recipes(example) if isinstance(recipe, TensorRecipe))


def _recipes(example: Example) -> Iterator[Recipe]:
    waiting = [recipe for _, recipe in example.arguments]
    while waiting:
        recipe = waiting.pop()
        yield recipe
        if isinstance(recipe, Container):
            waiting += [item for _, item in recipe.items]


def _is_special(tensor: TensorRecipe) -> bool:
    values = tensor.values
    numbers = values.numbers if isinstance(values, Listed) else [number for _, number in values.special]
    return any(isinstance(number, float) and not math.isfinite(number) for number in numbers)
