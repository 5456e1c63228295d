"""What must be true for a computation on selected elements to become one on all elements, and how it was met."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import shorten
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._selections import ADVICE, Dense
from gbfix.engine.model import Discharge, Obligation

SHAPE = "the mask has the shape of the tensor"
ORDER = "the order of a floating-point sum does not matter"
BITS = "the last bits of a result do not depend on where its element lies"
NUMBERS = "what meets the selected elements is one number"
TENSORS = "what is selected from is a tensor"
DEVICE = "the condition is on their device"
HALF = "a sum of the selected elements does not overflow"
NOT_EMPTY = "something above negative and below positive infinity is selected"
DTYPE = "the new values have the dtype of the tensor that they are written into"
GRADIENT = "the other gradient stays zero"
TOTAL = "the elements that are not selected cannot make it fail"
PROVED, ASSUMED = Discharge.PROVED, Discharge.ASSUMED


def missing_dimensions(flow: Flow, state: State, dense: Dense) -> int:
    """How many dimensions at the end the mask lacks. Raises RefusedError where that is not known."""
    mask = flow.evaluate(dense.mask, state)[0]
    found: set[int] = set()
    for node, selection in dense.selected.items():
        base = flow.evaluate(selection.base, state)[0]
        if base.shape == mask.shape or selection.broadcasts:
            found.add(0)
            continue
        ranks = [sizes.ranks(value.shape or ()) or ({0} if value.is_scalar else set()) for value in (base, mask)]
        lacking = {one - other for one in ranks[0] for other in ranks[1]}
        if len(lacking) != 1:
            reason = f"nothing shows that {_text(flow, dense.mask)} has the shape of {_text(flow, selection.base)}"
            raise RefusedError(SHAPE, reason, node.lineno, f"record a run with gbfix trace; or {ADVICE}")
        found |= lacking
    if len(found) != 1:
        reason = "the tensors have different numbers of dimensions"
        raise RefusedError(SHAPE, reason, dense.node.lineno, ADVICE)
    return found.pop()


def common_obligations(flow: Flow, state: State, dense: Dense, lacking: int) -> list[Obligation]:
    """What every dense form needs. Raises RefusedError."""
    line = dense.node.lineno
    mask, evaluated = flow.evaluate(dense.mask, state)
    for effects in (evaluated.effects, dense.evaluation.effects):
        for note in [*effects.impure, *effects.random, *effects.reads]:
            raise RefusedError("it only computes", note.text, note.line, ADVICE)
    kinds = [flow.evaluate(selection.base, state)[0] for selection in dense.selected.values()]
    found = [Obligation("the index is a mask", PROVED, f"{_text(flow, dense.mask)} is a bool tensor", line)]
    found.append(_tensors(flow, dense, kinds))
    bases = ", ".join(dict.fromkeys(_text(flow, selection.base) for selection in dense.selected.values()))
    shape = f"{_text(flow, dense.mask)} has the first dimensions of {bases}" if lacking else f"it is that of {bases}"
    found.append(Obligation(SHAPE, PROVED, shape, line))
    if any(value.devices != mask.devices and not mask.is_scalar for value in kinds):
        found.append(Obligation(DEVICE, ASSUMED, f"{_text(flow, dense.mask)} may be on another device", line))
    if dense.numbers:
        texts = ", ".join(dict.fromkeys(_text(flow, node) for node in dense.numbers))
        found.append(Obligation(NUMBERS, ASSUMED, f"{texts} may be a tensor", line))
    if not dense.same_bits:
        reason = f"{_text(flow, dense.node)} is computed in groups of elements, whose last one may differ"
        found.append(Obligation(BITS, ASSUMED, reason, line))
    return found


def _tensors(flow: Flow, dense: Dense, kinds: Sequence[Value]) -> Obligation:
    line = dense.node.lineno
    bases = [selection.base for selection in dense.selected.values()]
    for base, value in zip(bases, kinds, strict=True):
        if value.kind is Kind.MAYBE:
            return Obligation(TENSORS, ASSUMED, f"nothing shows that {_text(flow, base)} is one", line)
        if value.assumed:
            first = min(value.assumed)
            return Obligation(TENSORS, ASSUMED, first.claim, first.line)
    texts = ", ".join(dict.fromkeys(_text(flow, base) for base in bases))
    return Obligation(TENSORS, PROVED, f"{texts} is one", line)


def needs_safe_values(dense: Dense) -> bool:
    """True when an element that is not selected could make the gradient NaN, or a division of integers fail."""
    return bool(dense.evaluation.effects.hazards) or any(_divides(r.key) for r in dense.evaluation.effects.requirements)


def _divides(key: object) -> bool:
    return isinstance(key, tuple) and key[:1] == ("divisor",)


def safe_value_obligations(dense: Dense) -> list[Obligation]:
    """With 1 in place of what is not selected, nothing is infinite and no divisor is zero."""
    effects = dense.evaluation.effects
    line = dense.node.lineno
    if not needs_safe_values(dense):
        return [Obligation(TOTAL, PROVED, "no element makes it fail, or a gradient NaN", line)]
    if is_regular_at_one(dense.node, dense):
        reason = "elements that are not selected are computed as 1, where value and derivative are finite"
        return [Obligation(TOTAL, PROVED, reason, line)]
    found = []
    if any(_divides(r.key) for r in effects.requirements):
        found.append(Obligation(TOTAL, ASSUMED, "a divisor may be zero where nothing is selected", line))
    if effects.hazards:
        found.append(Obligation(GRADIENT, ASSUMED, effects.hazards[0].text, effects.hazards[0].line))
    return found


def is_regular_at_one(node: ast.expr, dense: Dense) -> bool:
    """True when the expression and its derivative are finite where every selected element is 1."""
    return _at_one(node, dense) is not None


def _at_one(node: ast.expr, dense: Dense) -> float | None:
    """The value where every selection is 1; None where it, or a derivative on the way, may not be finite."""
    if node in dense.selected:
        return 1.0
    try:
        literal = ast.literal_eval(node)
    except ValueError:
        literal = None
    if isinstance(literal, int | float):
        return float(literal) if abs(literal) < 1e6 else None
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _at_one(operand, dense)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _at_one(left, dense), _at_one(right, dense))
        case ast.Call(func=ast.Attribute(value=owner, attr="pow"), args=[exponent], keywords=[]):
            return _binary(ast.Pow(), _at_one(owner, dense), _at_one(exponent, dense))
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=arguments, keywords=[]):
            operand = owner if not arguments else arguments[0]
            if len(arguments) > 1 or (arguments and owner in dense.selected):
                return None
            return _function(name, _at_one(operand, dense))
        case _:
            return None


def _binary(op: ast.operator, left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div() | ast.FloorDiv() | ast.Mod():
            # Far enough from zero in half precision, too, and for integers.
            return left / right if abs(right) >= 0.5 else None
        case ast.Pow():
            return left**right if 0.5 <= left <= 4 and abs(right) <= 4 else None
        case _:
            return None


_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "softplus": lambda x: math.log1p(math.exp(x)),
    "relu": lambda x: max(x, 0.0),
    "neg": lambda x: -x,
    "square": lambda x: x * x,
}
_FUNCTIONS_ABOVE_ZERO: Mapping[str, Callable[[float], float]] = {
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: x**-0.5,
    "reciprocal": lambda x: 1 / x,
    "abs": abs,
}


def _function(name: str, operand: float | None) -> float | None:
    """The value of a known function where it is smooth; None elsewhere."""
    if operand is None or not -8 <= operand <= 8:
        return None
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](operand)
    return _FUNCTIONS_ABOVE_ZERO[name](operand) if name in _FUNCTIONS_ABOVE_ZERO and operand >= 0.5 else None


def order_obligations(value: Value, text: str, line: int) -> list[Obligation]:
    """A sum of integers is exact in any order; one of floating-point numbers rounds differently."""
    category = value.dtype.category if value.dtype is not None else None
    if category in (Category.BOOL, Category.INT):
        return [Obligation(ORDER, PROVED, f"{text} is no floating-point tensor", line)]
    return [Obligation(ORDER, ASSUMED, f"{text} is summed in another order, with zeros between", line)]


def _text(flow: Flow, node: ast.expr) -> str:
    return shorten(flow.context.source.segment(node))
