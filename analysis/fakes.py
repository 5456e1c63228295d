"""Known operations on observed tensors, tried on tensors without data: their results are observed as well.

The symbolic rules of `operations` know element-wise shapes; what a reshape, a product of matrices or a reduction over
one axis gives is asked of PyTorch itself, through `Fakes`, which the command line passes in.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from gbfix.analysis import sizes
from gbfix.analysis import values as v
from gbfix.analysis.literals import constant_index
from gbfix.analysis.observations import TensorSpec
from gbfix.analysis.observed import with_facts
from gbfix.analysis.operators import AUTOCAST_FLOAT32, AUTOCAST_HALF
from gbfix.analysis.values import Category, Value
from gbfix.engine.dataclass import dataclass

if TYPE_CHECKING:
    from gbfix.analysis.evaluate import Evaluation

Argument = object
"""A TensorSpec, or a literal of Python."""

MAY_DEPEND_ON_VALUES = frozenset(
    {
        "argwhere",
        "bernoulli",
        "binary_cross_entropy_with_logits",
        "bincount",
        "cross_entropy",
        "embedding",
        "gather",
        "index_select",
        "masked_select",
        "multinomial",
        "nll_loss",
        "nonzero",
        "one_hot",
        "repeat_interleave",
        "scatter",
        "take_along_dim",
        "to",
        "type_as",
        "unique",
    }
)
"""Operations that may raise for some values, or move data, whatever the shapes: a try without data says little."""


class Fakes(Protocol):
    """Runs operations of PyTorch on tensors without data."""

    def call(
        self, name: str, runs: Sequence[tuple[Sequence[Argument], Mapping[str, Argument]]]
    ) -> Sequence[TensorSpec] | None:
        """The result of an operation for each run; None when one raises or gives anything but one tensor."""


@dataclass(frozen=True)
class Tried:
    """The results of an operation in the observed runs of one line, and the operands that gave them."""

    place: Hashable
    results: Sequence[TensorSpec]
    operands: frozenset[TensorSpec]

    @property
    def strides_known(self) -> bool:
        """True when real tensors have the strides of the fake ones.

        PyTorch 2.13: along axes of one element they may not, unless the operands are contiguous.
        """
        singles = any(size == 1 for result in self.results for size in result.shape)
        return not singles or all(_is_contiguous(operand) for operand in self.operands)


def tried(
    evaluation: Evaluation, name: str, operands: Sequence[ast.expr], found: Sequence[Value], node: ast.expr
) -> Tried | None:
    """The operation on the observed operands; None where something about it was not observed."""
    fakes = evaluation.context.view.project.fakes
    if fakes is None or name in MAY_DEPEND_ON_VALUES:
        return None
    known = dict(zip(operands, found, strict=True))
    positional, keywords = _arguments(evaluation, operands, node)
    series = [_series(evaluation, argument, known) for argument in [*positional, *keywords.values()]]
    complete = [one for one in series if one is not None]
    places = {place for place, _ in complete if place is not None}
    if len(complete) < len(series) or len(places) > 1 or not any(isinstance(one[0], TensorSpec) for _, one in complete):
        return None
    count = max(len(one) for _, one in complete)
    runs = []
    for run in range(count):
        arguments = [one[run] if len(one) > 1 else one[0] for _, one in complete]
        runs.append((arguments[: len(positional)], dict(zip(keywords, arguments[len(positional) :], strict=True))))
    results = fakes.call(name, runs)
    tensors = frozenset(one for _, series in complete for one in series if isinstance(one, TensorSpec))
    return None if results is None else Tried(next(iter(places), None), results, tensors)


def tried_index(evaluation: Evaluation, base: Value, index: ast.expr) -> Tried | None:
    """An observed tensor at a constant index (see `literals.is_constant_index`)."""
    fakes = evaluation.context.view.project.fakes
    known = specs_of(base)
    if fakes is None or known is None:
        return None
    place, specs = known
    results = fakes.call("__getitem__", [((spec, constant_index(index)), {}) for spec in specs])
    return None if results is None else Tried(place, results, frozenset(specs))


def with_result(result: Value, name: str, tried: Tried | None) -> Value:
    """The result with what trying it showed; a dtype that autocast may change stays as it is."""
    if tried is None:
        return result
    facts = with_facts(result, tried.place, tried.results)
    if not tried.strides_known:
        facts = replace(facts, layout=result.layout)
    known = facts.dtype is not None and facts.dtype.term in {operand.dtype for operand in tried.operands}
    inexact = facts.dtype is not None and facts.dtype.category in (Category.FLOAT, Category.COMPLEX)
    autocast = name in AUTOCAST_HALF or name in AUTOCAST_FLOAT32
    # A floating result that no operand has follows the default dtype, which the run may have changed.
    return replace(facts, dtype=result.dtype) if autocast or (inexact and not known) else facts


def _is_contiguous(spec: TensorSpec) -> bool:
    return spec.stride == sizes.contiguous_strides(tuple(size for size in spec.shape if isinstance(size, int)))


def _arguments(
    evaluation: Evaluation, operands: Sequence[ast.expr], node: ast.expr
) -> tuple[list[ast.expr], dict[str, ast.expr]]:
    """The arguments of an operation as they stand, a receiver first."""
    if not isinstance(node, ast.Call):
        return list(operands), {}
    method = isinstance(node.func, ast.Attribute) and evaluation.context.names.qualified(node.func) is None
    receiver = [operands[0]] if method else []
    return [*receiver, *node.args], {keyword.arg or "": keyword.value for keyword in node.keywords}


def _series(
    evaluation: Evaluation, node: ast.expr, known: Mapping[ast.expr, Value]
) -> tuple[Hashable, Sequence[Argument]] | None:
    """What an argument was in each run, or the one thing that it always is, with the place of its observations."""
    try:
        return None, [ast.literal_eval(node)]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    qualified = evaluation.context.names.qualified(node) or ""
    if qualified.startswith("torch.") and v.concrete_dtype(qualified.removeprefix("torch.")) is not None:
        return None, [qualified]
    value = known.get(node)
    return None if value is None else specs_of(value)


def specs_of(value: Value) -> tuple[Hashable, list[TensorSpec]] | None:
    """The facts of an observed tensor in each run, with the place of its observations; None where one is missing."""
    shape = value.shape if value.shape is not None else frozenset({None})
    dtype = value.dtype.term if value.dtype is not None else None
    devices = list(value.devices)
    if not value.tensor_like or not isinstance(dtype, str) or len(devices) != 1 or not isinstance(devices[0], str):
        return None
    shapes = (None, ((),)) if value.is_scalar else sizes.entries(next(iter(shape))) if len(shape) == 1 else None
    if shapes is None or v.concrete_dtype(dtype) is None:
        return None
    place, entries = shapes
    strides = _strides(value, entries, place)
    if strides is None:
        return None
    return place, [TensorSpec(dtype, entry, stride, devices[0]) for entry, stride in zip(entries, strides, strict=True)]


def _strides(value: Value, shapes: Sequence[sizes.Sizes], place: Hashable) -> Sequence[sizes.Sizes] | None:
    if value.layout in (v.CONTIGUOUS, "scalar"):
        return [sizes.contiguous_strides(shape) for shape in shapes]
    known = sizes.entries(value.layout)
    if known is None or (known[0] is not None and known[0] != place):
        return None
    return known[1] if len(known[1]) == len(shapes) else known[1] * len(shapes)
