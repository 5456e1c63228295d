"""What must be true for a number to stay a tensor without dimensions."""

from __future__ import annotations

import ast

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow
from gbfix.analysis.values import CONTIGUOUS, Category, Kind, Value
from gbfix.codemods._claims import INTEGERS
from gbfix.codemods._obligations import shorten
from gbfix.codemods._scalar_dtypes import dtype_obligation, has_dimensions, is_integral, known_devices
from gbfix.codemods._scalar_reads import Read, statement_of
from gbfix.codemods._scalar_uses import Meeting, Uses
from gbfix.codemods._scalar_views import written_through
from gbfix.engine.model import Discharge, Obligation

PROVED, ASSUMED, VIOLATED = Discharge.PROVED, Discharge.ASSUMED, Discharge.VIOLATED

ONE = "the tensor has one element"
TENSOR = "the number is computed with tensors"
DEVICE = "the number's tensor is on the device where it is used"
EXACT = "the number is exact in double precision"
FINITE = "the number is finite and fits an integer of 64 bits"
DIVISOR = "the divisor is not zero"
DOMAIN = "math does not raise, and rounds as torch does"
ELEMENT = "the element exists"
INDEXED = "the indexed tensor has a dimension"
SHARED = "identity and strides do not matter"


def read_obligations(flow: Flow, read: Read, uses: Uses) -> list[Obligation]:
    """What taking the number out of its tensor relied on."""
    text, line = shorten(flow.context.source.segment(read.tensor)), read.node.lineno
    found = [_kind(read, text, line), _one(read, uses, text, line), _exact(flow, read, uses, text, line)]
    dtype = read.value.dtype
    if read.number == "int" and (dtype is None or dtype.category not in (Category.INT, Category.BOOL)):
        found.append(Obligation(FINITE, ASSUMED, f"int() raises for NaN and infinity in {text}", line))
    if read.warns and read.value.sources and not read.state.gradients_off:
        reason = f"taking a number out of {text} warns once where it requires a gradient"
        found.append(Obligation("nobody relies on a warning", ASSUMED, reason, line))
    divisors = [shorten(flow.context.source.segment(node)) for node in uses.divisors]
    if divisors:
        found.append(Obligation(DIVISOR, ASSUMED, f"Python raises where {divisors[0]} is zero, torch does not", line))
    if uses.functions:
        name = shorten(flow.context.source.segment(uses.functions[0]))
        found.append(Obligation(DOMAIN, ASSUMED, f"{name} may raise where torch gives NaN or infinity", line))
    return [obligation for obligation in found if obligation is not None]


def _kind(read: Read, text: str, line: int) -> Obligation | None:
    if read.value.kind is Kind.MAYBE:
        return Obligation(TENSOR, ASSUMED, f"nothing shows that {text} is a tensor", line)
    if read.value.assumed:
        first = min(read.value.assumed)
        return Obligation(TENSOR, ASSUMED, first.claim, first.line)
    return None


def _one(read: Read, uses: Uses, text: str, line: int) -> Obligation:
    places = uses.elements if read.listed else [] if read.index is None else [read.index]
    if read.listed or places:
        shape = sizes.sample(read.value.shape or ())
        ranks = sizes.ranks(read.value.shape or ())
        if shape is not None and ranks == {1} and all(-shape[0] <= place < shape[0] for place in places):
            return Obligation(ELEMENT, PROVED, f"{text} is {list(shape)}", line)
        if ranks and ranks != {1}:
            return Obligation(ELEMENT, VIOLATED, f"{text} has {max(ranks)} dimensions", line)
        return Obligation(ELEMENT, ASSUMED, f"the shape of {text} is not known", line)
    if read.value.is_scalar or read.value.one:
        return Obligation(ONE, PROVED, f"{text} has", line)
    return Obligation(ONE, ASSUMED, f"the shape of {text} is not known", line)


def _exact(flow: Flow, read: Read, uses: Uses, text: str, line: int) -> Obligation:
    dtype = read.value.dtype
    if is_integral(read, uses):
        if not uses.steps or counts(flow, read):
            return Obligation(
                INTEGERS, PROVED, f"{text} is used as it is" if not uses.steps else f"{text} counts", line
            )
        return Obligation(INTEGERS, ASSUMED, f"{text} is computed with", line)
    if dtype is not None and (dtype.category is Category.FLOAT or dtype.term in _SMALL):
        return Obligation(EXACT, PROVED, f"a double holds every value of {text}", line)
    if counts(flow, read):
        return Obligation(EXACT, PROVED, f"{text} counts elements", line)
    if dtype is not None and dtype.category is Category.COMPLEX:
        return Obligation(EXACT, VIOLATED, f"{text} is complex", line)
    return Obligation(EXACT, ASSUMED, f"{text} may hold integers beyond 2**53, or complex numbers", line)


_SMALL = ("bool", "uint8", "int8", "int16", "int32")


def counts(flow: Flow, read: Read) -> bool:
    """True for the sum of a bool tensor, a count or a position, which memory keeps far below 2**53."""
    if read.counts:
        return True
    match read.tensor:
        case ast.Call(func=ast.Attribute(attr="sum"), args=[argument], keywords=[]):
            base = argument
        case ast.Call(func=ast.Attribute(attr="sum", value=receiver), args=[], keywords=[]):
            base = receiver
        case _:
            return False
    found = flow.evaluate(base, read.state)[0]
    return found.kind is Kind.TENSOR and found.dtype is not None and found.dtype.category is Category.BOOL


def meeting_obligations(flow: Flow, read: Read, uses: Uses, meeting: Meeting) -> list[Obligation]:
    """What one operation with a tensor relies on."""
    text, value = shorten(flow.context.source.segment(meeting.tensor)), meeting.value
    found = []
    if value.kind is Kind.MAYBE:
        found.append(Obligation(TENSOR, ASSUMED, f"nothing shows that {text} is a tensor", meeting.line))
    elif value.assumed:
        first = min(value.assumed)
        found.append(Obligation(TENSOR, ASSUMED, first.claim, first.line))
    else:
        found.append(Obligation(TENSOR, PROVED, f"{text} is one", meeting.line))
    found += [dtype_obligation(read, uses, meeting, text), _device(read, value, text, meeting.line)]
    if meeting.operator is ast.Subscript:
        found.append(_view(flow, uses, meeting, text))
        known = has_dimensions(value)
        reason = f"{text} has" if known else f"{text} may have no dimension, for which another text is raised"
        found.append(Obligation(INDEXED, PROVED if known else ASSUMED, reason, meeting.line))
    return found


def _device(read: Read, value: Value, text: str, line: int) -> Obligation:
    own = read.value.devices
    if own == {"cpu"}:
        return Obligation(DEVICE, PROVED, "a 0-d tensor on the CPU goes with every device", line)
    if own and own <= value.devices:
        return Obligation(DEVICE, PROVED, f"it comes from where {text} is", line)
    if known_devices(value) and known_devices(read.value):
        return Obligation(DEVICE, VIOLATED, f"{text} is on {', '.join(sorted(known_devices(value)))}", line)
    return Obligation(DEVICE, ASSUMED, f"nothing shows that it is on the device of {text}", line)


def _view(flow: Flow, uses: Uses, meeting: Meeting, text: str) -> Obligation:
    """An index gives a view, which others may write through, and whose strides are those of the tensor.

    Element-wise operations do not mind; sums and products of matrices add in an order that follows the strides.
    """
    source = flow.context.source
    subscript = next(node for node in uses.indexed if any(part is meeting.top for part in ast.walk(node.slice)))
    parent = source.parents[subscript]
    if written_through(flow.context, subscript):
        return Obligation(SHARED, VIOLATED, f"the element of {text} is written through", meeting.line)
    statement = statement_of(flow.context, subscript)
    state = flow.entry if statement is None else flow.before.get(statement, flow.entry)
    element_wise = isinstance(parent, ast.UnaryOp | ast.Compare | ast.BinOp)
    element_wise &= not isinstance(getattr(parent, "op", None), ast.MatMult)
    if meeting.value.layout == CONTIGUOUS and element_wise and isinstance(parent, ast.expr):
        found, evaluation = flow.evaluate(parent, state)
        effects = evaluation.effects
        if found.kind is Kind.TENSOR and found.fresh and not effects.writes and not effects.impure:
            return Obligation(SHARED, PROVED, "the element is only computed with", meeting.line)
    return Obligation(SHARED, ASSUMED, f"the element of {text} becomes a copy, with strides of its own", meeting.line)


def worst_of_each(obligations: list[Obligation]) -> list[Obligation]:
    """One obligation for each claim: the one that is met worst, of equal ones the first."""
    rank = {Discharge.VIOLATED: 2, Discharge.ASSUMED: 1}
    kept: dict[str, Obligation] = {}
    for obligation in obligations:
        held = kept.get(obligation.claim)
        if held is None or rank.get(obligation.discharge, 0) > rank.get(held.discharge, 0):
            kept[obligation.claim] = obligation
    return list(kept.values())
