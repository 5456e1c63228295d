"""Known operations on values whose facts are known: the result, what the operation needs, how it is derived."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gbfix.analysis import sizes
from gbfix.analysis import values as v
from gbfix.analysis.effects import Note
from gbfix.analysis.fakes import tried, with_result
from gbfix.analysis.literals import is_moderate_constant, is_nonzero_constant, is_text_of_infinity, number_of, shorten
from gbfix.analysis.operators import (
    AUTOCAST_FLOAT32,
    AUTOCAST_HALF,
    CONTIGUOUS_RESULTS,
    SAVES_OPERANDS,
    TUPLES_BY_DIMENSION,
    Dtype,
    Gradient,
    Need,
    Operator,
    Shape,
)
from gbfix.analysis.values import Assumption, Category, DType, Kind, Value

if TYPE_CHECKING:
    from gbfix.analysis.evaluate import Evaluation

_MEETS = {
    Need.NOT_BOOL: lambda c: c is not Category.BOOL,
    Need.FLOATING: lambda c: c in (Category.FLOAT, Category.COMPLEX),
    Need.REAL: lambda c: c is not Category.COMPLEX,
    Need.INTEGRAL: lambda c: c in (Category.BOOL, Category.INT),
}
_NOT_FINITE = frozenset({"math.inf", "torch.inf", "math.nan", "torch.nan"})
_DERIVATIVE = {
    Gradient.FINITE: "finite only for finite operands",
    Gradient.SINGULAR: "infinite for some ordinary operands",
}


def apply_operator(
    evaluation: Evaluation,
    name: str,
    operator: Operator,
    operands: Sequence[ast.expr],
    found: Sequence[Value],
    node: ast.expr,
    options: str = "",
) -> Value:
    """The result of a known operation; `found` are the operands' values, the first one the receiver."""
    if not all(value.tensor_like or value.kind is Kind.NUMBER for value in found):
        return of_something_else(evaluation, node)
    first = found[0]
    tensors = [value for value in found if value.tensor_like]
    seen = None if _is_followed(operator, tensors, options) else tried(evaluation, name, operands, found, node)
    _check_needs(evaluation, name, operator, operands, found, node, options, fits=seen is not None)
    if operator.random:
        evaluation.effects.random.append(Note(f"{shorten(evaluation.text(node))} draws random numbers", node.lineno))
    own_hazard = _hazard_of(evaluation, name, operator, operands, found, node)
    if own_hazard is not None or name in SAVES_OPERANDS:
        evaluation.effects.saves.append(Note(shorten(evaluation.text(node)), node.lineno))
    kind = Kind.TENSOR if any(value.kind is Kind.TENSOR for value in found) else Kind.MAYBE
    key = v.term(name, tuple(value.shape for value in tensors), options)
    if operator.shape is Shape.POINTWISE or operator.shape is Shape.LIKE:
        shape = v.broadcast(tensors if operator.shape is Shape.POINTWISE else tensors[:1])
        layout = v.dense_layout(tensors if operator.shape is Shape.POINTWISE else tensors[:1])
    elif name in TUPLES_BY_DIMENSION and options:
        return replace(evaluation.opaque(node), assumed=assumptions_of(found))
    elif operator.shape is Shape.REDUCE and not options:
        shape, layout = v.SCALAR_SHAPE, "scalar"
    elif operator.shape is Shape.DATA:
        return replace(evaluation.opaque(node, kind), assumed=assumptions_of(found))
    else:
        shape = frozenset({key})
        layout = v.term("view" if operator.aliases else "dense", key, tuple(value.layout for value in tensors))
    if name in CONTIGUOUS_RESULTS:
        layout = v.CONTIGUOUS
    dtype = _result_dtype(name, operator, found, options)
    stopped = operator.gradient is Gradient.STOPPED or (evaluation.gradients_off and not operator.aliases)
    if (
        operator.shape is Shape.LIKE
        and name not in ("detach", "positive", *CONTIGUOUS_RESULTS)
        and (operator.aliases or options)
    ):
        layout = v.term("layout", name, layout, options)
    together = frozenset().union(*(value.devices for value in tensors if not value.is_scalar)) or first.devices
    result = Value(
        kind,
        shape=shape,
        dtype=dtype,
        layout=first.layout if name in ("detach", "positive") else layout,
        devices=frozenset({v.term("device", name, options)}) if name in ("to", "type_as") else together,
        one=shape == v.SCALAR_SHAPE,
        fresh=not operator.aliases,
        sources=frozenset() if stopped else v.union_sources(found),
        hazard=None if stopped else v.worst([*(value.hazard for value in found), own_hazard]),
        assumed=assumptions_of(found),
    )
    return with_result(result, name, seen)


def _is_followed(operator: Operator, tensors: Sequence[Value], options: str) -> bool:
    """True when the rules here give all that PyTorch would: importing it to try takes seconds."""
    plain = operator.shape in (Shape.POINTWISE, Shape.LIKE, Shape.REDUCE) and not options
    dense = all(value.layout in (v.CONTIGUOUS, "scalar") for value in tensors)
    return plain and dense and Need.FITS not in operator.needs


def of_something_else(evaluation: Evaluation, node: ast.expr) -> Value:
    """An operation with an operand that is neither a tensor nor a number: it may raise, or be anything."""
    evaluation.require(("operands", *evaluation.here(node)), f"{shorten(evaluation.text(node))} does not raise", node)
    return evaluation.opaque(node)


def _result_dtype(name: str, operator: Operator, found: Sequence[Value], options: str) -> DType:
    """The dtype of a result; what autocast may change gets a term of its own."""
    dtype = _plain_dtype(name, operator, found, options)
    if dtype.category in (Category.BOOL, Category.INT) or dtype.term == "float64":
        return dtype
    if name in AUTOCAST_HALF or (name in AUTOCAST_FLOAT32 and dtype.term != "float32"):
        return DType(v.term("autocast", name in AUTOCAST_HALF, dtype.term), dtype.category, dtype.inexact)
    return dtype


def _plain_dtype(name: str, operator: Operator, found: Sequence[Value], options: str) -> DType:
    """The dtype of a result as the table gives it."""
    tensors = [value for value in found if value.tensor_like]
    own = tensors[0].dtype or DType(v.term("dtype", name))
    match operator.dtype:
        case Dtype.PROMOTE if name == "where":
            return v.promote(found[1:])
        case Dtype.PROMOTE:
            return v.promote(found)
        case Dtype.SAME:
            return own
        case Dtype.FLOATING:
            return v.floating(v.promote(found[: operator.operands]))
        case Dtype.BOOL:
            return v.BOOL
        case Dtype.TRUTH:
            return v.BOOL if own.category in (Category.BOOL, Category.FLOAT) else DType(v.term("truth", own.term))
        case Dtype.INT64:
            return v.INT64
        case Dtype.MAGNITUDE:
            real = own.category is not None and own.category is not Category.COMPLEX
            return own if real else DType(v.term("magnitude", own.term), inexact=own.inexact)
        case Dtype.SUM:
            if "dtype" in options:
                return DType(v.term(name, own.term, options))
            if own.category in (Category.FLOAT, Category.COMPLEX) or own.inexact:
                return own
            return v.INT64 if own.category is not None else DType(v.term("sum", own.term))
        case _:
            kept = own.category is Category.FLOAT and "dtype" not in options and name not in ("to", "type_as")
            category = own.category if kept else None
            return DType(v.term(name, tuple(value.dtype.term for value in tensors if value.dtype), options), category)


def _check_needs(
    evaluation: Evaluation,
    name: str,
    operator: Operator,
    operands: Sequence[ast.expr],
    found: Sequence[Value],
    node: ast.expr,
    options: str,
    *,
    fits: bool,
) -> None:
    """Collect what the operation needs in order not to raise; `fits` when it is known to take these shapes."""
    tensors = [(operand, value) for operand, value in zip(operands, found, strict=True) if value.tensor_like]
    shapes = {value.shape for _, value in tensors if not value.is_scalar}
    devices = {value.devices for _, value in tensors if not value.is_scalar}
    unsure = any(value.kind is Kind.MAYBE for _, value in tensors)
    apart = not fits and (len(devices) > 1 or (len(shapes) > 1 and not _seen_to_broadcast(shapes)))
    if len(tensors) > 1 and operator.shape is Shape.POINTWISE and (apart or unsure):
        together = " and ".join(dict.fromkeys(evaluation.text(operand) for operand, _ in tensors))
        key = ("together", frozenset().union(*(value.shape or frozenset() for _, value in tensors)))
        evaluation.require(key, f"{shorten(together)} can be combined (shapes that broadcast, one device)", node)
    elif unsure and len(tensors) == 1:
        evaluation.require(
            ("tensor", tensors[0][1].shape), f"{evaluation.text(tensors[0][0])} is a tensor or a number", node
        )
    if name == "pow" and (number_of(operands[-1]) or -1) >= 0:
        return
    needs = operator.needs | {Need.FITS} if options else operator.needs
    for need in sorted(needs - {Need.FITS} if fits else needs, key=lambda n: n.name):
        check_need(evaluation, need, name, operands, tensors, node, options)


def check_need(
    evaluation: Evaluation,
    need: Need,
    name: str,
    operands: Sequence[ast.expr],
    tensors: Sequence[tuple[ast.expr, Value]],
    node: ast.expr,
    options: str,
) -> None:
    """Collect one need, unless the facts meet it."""
    if need is Need.DIVISOR:
        floats = any(value.dtype and value.dtype.category is Category.FLOAT for _, value in tensors)
        if not floats and not is_nonzero_constant(operands[-1]):
            evaluation.require(
                ("divisor", *evaluation.here(operands[-1])),
                f"{evaluation.text(operands[-1])} is not an integer zero",
                node,
            )
        return
    if need is Need.IN_RANGE:
        tensor = tensors[0]
        for operand in operands[1:]:
            in_range(evaluation, operand, tensor, node)
        return
    if need is Need.FITS:
        key = (
            "fits",
            name,
            tuple(value.shape for _, value in tensors),
            tuple(value.dtype for _, value in tensors),
            options,
        )
        evaluation.require(key, f"the operands of {shorten(evaluation.text(node))} fit together", node)
        return
    for operand, value in tensors:
        dtype = value.dtype
        category = dtype.category if dtype else None
        if need in (Need.NOT_EMPTY, Need.SEVERAL):
            counts = _element_counts(value)
            enough = counts is not None and min(counts) >= (2 if need is Need.SEVERAL else 1)
            if not enough and (need is Need.SEVERAL or not value.one):
                evaluation.require((need.name, value.shape), f"{evaluation.text(operand)} is {need.value}", node)
        elif need in (Need.NOT_BOOL, Need.FLOATING) and dtype is not None and dtype.inexact:
            continue
        elif category is None or not _MEETS[need](category):
            evaluation.require(
                (need.name, dtype.term if dtype else None), f"{evaluation.text(operand)} is {need.value}", node
            )


def _seen_to_broadcast(shapes: Iterable[frozenset[v.Term] | None]) -> bool:
    """True when a run showed all these shapes, and they could be combined each time."""
    united: frozenset[v.Term] = frozenset().union(*(shape or frozenset() for shape in shapes))
    return sizes.broadcast(united) is not None


def _element_counts(value: Value) -> set[int] | None:
    """How many elements a tensor had in the observed runs, None when it was not observed."""
    shape = value.shape or frozenset()
    return sizes.element_counts(next(iter(shape))) if len(shape) == 1 else None


def in_range(evaluation: Evaluation, operand: ast.expr, tensor: tuple[ast.expr, Value], node: ast.expr) -> None:
    """A Python number that becomes an element must fit: 1e9 in a half tensor raises."""
    value = evaluation.value(operand)
    dtype = tensor[1].dtype
    if value.kind is not Kind.NUMBER or dtype is None or value.inside == dtype.term:
        return
    number = number_of(operand)
    if number is None and (evaluation.context.names.qualified(operand) in _NOT_FINITE or is_text_of_infinity(operand)):
        number = 0.0 if dtype.floor in (Category.FLOAT, Category.COMPLEX) else None
    wide = dtype.term in ("float32", "float64", "bfloat16")
    limit = 3e38 if wide else 65504.0 if dtype.floor in (Category.FLOAT, Category.COMPLEX) else 127.0
    low = -limit if limit > 127 else 0.0
    if number is None or not low <= number <= limit:
        key = ("in range", dtype.term, *evaluation.here(operand))
        evaluation.require(key, f"{evaluation.text(operand)} fits the dtype of {evaluation.text(tensor[0])}", node)


def _hazard_of(
    evaluation: Evaluation,
    name: str,
    operator: Operator,
    operands: Sequence[ast.expr],
    found: Sequence[Value],
    node: ast.expr,
) -> v.Hazard | None:
    """What the operation's own derivative may make of a zero gradient; also collected in `effects`."""
    if operator.gradient not in (Gradient.FINITE, Gradient.SINGULAR):
        return None
    if evaluation.gradients_off or v.union_sources(found) == frozenset():
        return None
    if name in ("mul", "multiply") and any(is_moderate_constant(operand) for operand in operands):
        return None
    divides = name in ("div", "divide", "true_divide") and is_nonzero_constant(operands[-1])
    if divides and is_moderate_constant(operands[-1]):
        return None
    level = operator.gradient
    if name == "pow" and (number_of(operands[-1]) or 0) >= 1:
        level = Gradient.FINITE
    return add_hazard(evaluation, level, node)


def add_hazard(evaluation: Evaluation, level: Gradient, node: ast.expr) -> v.Hazard:
    """Collect a derivative that may turn a zero gradient into NaN."""
    text = f"the derivative of {shorten(evaluation.text(node))} is {_DERIVATIVE[level]}"
    hazard = v.Hazard(level is Gradient.SINGULAR, text, node.lineno)
    evaluation.effects.hazards.append(hazard)
    return hazard


def assumptions_of(found: Iterable[Value]) -> frozenset[Assumption]:
    """Everything that the facts about some values assume."""
    return frozenset().union(*(value.assumed for value in found))
