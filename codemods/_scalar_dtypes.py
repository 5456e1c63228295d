"""The dtypes of a number that stays a tensor: where they are those of the number, and which cast makes them so."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow
from gbfix.analysis.values import Category, Value
from gbfix.codemods._scalar_reads import Read
from gbfix.codemods._scalar_uses import Meeting, Uses
from gbfix.engine.model import Discharge, Obligation

PROVED, ASSUMED, VIOLATED = Discharge.PROVED, Discharge.ASSUMED, Discharge.VIOLATED

DTYPE = "a number and a 0-d tensor give the same dtype and bits"


def is_integral(read: Read, uses: Uses) -> bool:
    """True when the number is an integer for Python all the way."""
    number = read.number or ("int" if uses.indexed else None)
    return number in ("int", "bool") and not uses.floating


def dtype_obligation(read: Read, uses: Uses, meeting: Meeting, text: str) -> Obligation:
    """What an operation of the number with a tensor relies on for its dtype and its bits."""
    dtype, line = meeting.value.dtype, meeting.line
    if meeting.operator is ast.Subscript:
        return _index_dtype(read, uses, text, line)
    name = dtype.term if dtype is not None and isinstance(dtype.term, str) else None
    category = dtype.category if dtype is not None else None
    on = known_devices(meeting.value)
    if on and any(device.startswith("mps") for device in on) and not is_integral(read, uses):
        return Obligation(DTYPE, VIOLATED, f"{text} is on a device without double precision", line)
    if meeting.operator is ast.Div and (not on or on != {"cpu"}):
        if on:
            reason = f"an accelerator multiplies {text} by the reciprocal of a number, and divides by a tensor"
            return Obligation(DTYPE, VIOLATED, reason, line)
        return Obligation(DTYPE, ASSUMED, f"dividing {text} is the same on the CPU only", line)
    if name in ("float32", "float64"):
        return Obligation(DTYPE, PROVED, f"{text} is {name}", line)
    if name in ("float16", "bfloat16"):
        return _half(read, uses, meeting, text, name, on)
    if category is Category.INT:
        if uses.unsure or read.number is None:
            return Obligation(DTYPE, VIOLATED, f"{text} is an integer tensor, and the number may be a float", line)
        dimensioned = has_dimensions(meeting.value)
        if not is_integral(read, uses) or name == "int64" or dimensioned:
            return Obligation(DTYPE, PROVED, f"{text} is an integer tensor", line)
        return Obligation(DTYPE, ASSUMED, f"{text} may have no dimension, and then another integer dtype counts", line)
    if category in (Category.BOOL, Category.COMPLEX):
        return Obligation(DTYPE, VIOLATED, f"{text} is {name or 'bool or complex'}", line)
    return Obligation(DTYPE, ASSUMED, f"{text} is not known to be float32 or float64", line)


def _index_dtype(read: Read, uses: Uses, text: str, line: int) -> Obligation:
    if not is_integral(read, uses) or read.number == "bool":
        return Obligation(DTYPE, VIOLATED, f"the index of {text} is no integer", line)
    if read.number is None:
        return Obligation(DTYPE, ASSUMED, f"the index of {text} is not known to be an integer", line)
    return Obligation(DTYPE, PROVED, f"the index of {text} is an integer", line)


def _half(read: Read, uses: Uses, meeting: Meeting, text: str, name: str, on: set[str]) -> Obligation:
    """A number meets half precision in single precision; so does a 0-d tensor, on the CPU, as second operand."""
    if on and on != {"cpu"}:
        return Obligation(DTYPE, VIOLATED, f"an accelerator rounds a 0-d tensor to {name} first", meeting.line)
    if meeting.operator is ast.Mult and not meeting.right:
        return Obligation(DTYPE, VIOLATED, f"a 0-d tensor left of {text} is rounded to {name}", meeting.line)
    if not has_dimensions(meeting.value) and not is_integral(read, uses):
        return Obligation(DTYPE, VIOLATED, f"{text} is {name} and may have no dimension", meeting.line)
    if not on:
        return Obligation(DTYPE, ASSUMED, f"{text} is {name}: the same on the CPU only", meeting.line)
    return Obligation(DTYPE, PROVED, f"{text} is {name}, with dimensions, on the CPU", meeting.line)


def known_devices(value: Value) -> set[str]:
    """The devices that a run showed; empty when one is not known."""
    found = {device for device in value.devices if isinstance(device, str) and device.split(":")[0] in _DEVICES}
    return found if found == value.devices else set()


_DEVICES = frozenset({"cpu", "cuda", "xpu", "mps", "hpu", "npu", "meta"})


def has_dimensions(value: Value) -> bool:
    """True for a tensor that certainly has a dimension."""
    ranks = sizes.ranks(value.shape or ())
    return bool(ranks) and 0 not in ranks


def cast_at(flow: Flow, torch: str, read: Read, uses: Uses, meeting: Meeting) -> str:
    """The method that gives the number the dtype that a Python number would take there; empty without need."""
    value, dtype = meeting.value, meeting.value.dtype
    if meeting.operator is ast.Subscript:
        return ".reshape(1)"
    name = dtype.term if dtype is not None and isinstance(dtype.term, str) else None
    if is_integral(read, uses):
        return ""
    if dtype is not None and dtype.category is Category.INT:
        return f".to({torch}.get_default_dtype())"
    if has_dimensions(value) or name == "float64":
        return ""
    if isinstance(meeting.tensor, ast.Name | ast.Attribute):
        return f".to({flow.context.source.segment(meeting.tensor)}.dtype)"
    return f".to({torch}.float32)" if name == "float32" else ""


def cast_is_missing(uses: Sequence[Meeting], casts: Sequence[str]) -> Meeting | None:
    """A meeting with a tensor that may have no dimension, where no dtype can be written."""
    for meeting, cast in zip(uses, casts, strict=True):
        dtype = meeting.value.dtype
        if not cast and not has_dimensions(meeting.value) and (dtype is None or dtype.term != "float64"):
            return meeting
    return None
