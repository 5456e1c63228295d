"""A number read out of a tensor and handed to functions that only scale tensors with it: keep it a tensor.

`t.item()` makes Python wait for the value, so Dynamo ends the graph there (GB0124). Where the number is an argument of
functions of the same program, and all that these do is to multiply tensors by it or to divide them by it, a tensor
without dimensions does the same, and the graph goes on. Losses that are divided by a count are the usual case.

Before:

    def mean_error(errors: torch.Tensor, count):
        return errors.sum() / count


    @torch.compile
    def loss(errors: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        count = weights.sum().clamp(min=1).item()
        return mean_error(errors, count)

After:

    def mean_error(errors: torch.Tensor, count):
        return errors.sum() / count


    @torch.compile
    def loss(errors: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        count = weights.sum().clamp(min=1).detach()
        return mean_error(errors, count)

The functions keep their text: the tensor keeps its dtype, which has to be that of every tensor it meets, so that
neither the dtype nor a bit of a result changes. The number is followed through arguments of functions of the given
files, methods of `self`, those of derived classes included, and a dict of them that the function makes.

Stays away, and says so, when the number is used in any other way in one of these functions, when the name is bound
again later, and when a call leads out of the given files. Numbers that stay within their function belong to
item-in-arithmetic.

What it relies on and cannot always prove, and then says: that the tensor has one element, the dtypes and devices,
and that no class elsewhere has other methods in place of those that were followed. An accelerator divides by a number
in another way than by a tensor, so divisions are safe on the CPU only.

Source: torch.compile troubleshooting (GB0124), torch.result_type.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from gbfix.analysis.flow import Flow, flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.values import Category
from gbfix.codemods import _scalar_duties as duty
from gbfix.codemods._handed_numbers import Handed, Met, handed_of
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_dtypes import DTYPE
from gbfix.codemods._scalar_reads import Read, reads_of, statement_of
from gbfix.codemods._scalar_uses import Uses
from gbfix.codemods._text import indentation_of, render
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Rule

HANDED_ON = ("GBF209", "number-handed-on")
FOLLOWED = "the functions that get the number are those that were followed"
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
SAME_DTYPE = "the number has the dtype of the tensors that it meets"
_FLOATING = frozenset({"float32", "float64"})


@lru_cache(maxsize=2)
def handed_findings(view: FileView) -> tuple[Finding, ...]:
    """The numbers of a file's compiled functions that are handed on, each once, in source order."""
    found = []
    for compiled in view.compiled:
        if compiled.fullgraph is not True:  # the whole graph is captured, numbers included
            flow = flow_of(view, compiled.function)
            found += [one for read in reads_of(flow) if (one := _finding(view, compiled, flow, read)) is not None]
    return tuple(sorted(found, key=lambda finding: finding.span))


def _finding(view: FileView, compiled: CompiledFunction, flow: Flow, read: Read) -> Finding | None:
    """A number that a name holds and a call hands on; None for one that stays, or whose way is not known."""
    statement = statement_of(flow.context, read.node)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is read.node:
            pass
        case _:
            return None
    if read.implicit or read.listed or read.index is not None or read.number in ("int", "bool"):
        return None
    try:
        handed = handed_of(flow, name, statement)
        if not handed.functions or not handed.meetings:
            return None
        obligations = _obligations(flow, read, handed)
    except RefusedError:
        return None  # item-in-arithmetic says why the number stays one
    if any(obligation.discharge is Discharge.VIOLATED for obligation in obligations):
        return None
    fix = Fix("keep the number a tensor", (Replacement(view.source.span(read.node), _tensor_text(view, read)),))
    message = f"number read out of {shorten(' '.join(view.source.segment(read.tensor).split()), 60)} and handed on"
    about = (*HANDED_ON, view.source.span(read.node), message, compiled.function.qualname, compiled.reason)
    return Finding(*about, tuple(obligations), fix, "")


def _obligations(flow: Flow, read: Read, handed: Handed) -> list[Obligation]:
    line = read.node.lineno
    names = ", ".join(dict.fromkeys(handed.functions))
    found = [
        *duty.read_obligations(flow, read, Uses()),
        Obligation(FOLLOWED, Discharge.ASSUMED, f"{shorten(names, 80)}; a class elsewhere may have its own", line),
    ]
    dtypes = [read.value.dtype, *(met.meeting.value.dtype for met in handed.meetings)]
    known = {dtype.term for dtype in dtypes if dtype is not None and isinstance(dtype.term, str)}
    for met in handed.meetings:
        others = duty.meeting_obligations(met.flow, read, Uses(), met.meeting)
        found += [obligation for obligation in others if obligation.claim != DTYPE]
        found += [_same_dtype(read, met, known), _division(read, met)]
    return duty.worst_of_each(found)


def _same_dtype(read: Read, met: Met, known: set[str]) -> Obligation:
    """Two tensors without dimensions have the wider dtype as their result, where a number would not count."""
    text, line = _text(met), met.meeting.line
    own, other = read.value.dtype, met.meeting.value.dtype
    whole = any(dtype is not None and dtype.category not in (None, Category.FLOAT) for dtype in (own, other))
    if whole or len(known) > 1 or known - _FLOATING:
        return Obligation(SAME_DTYPE, Discharge.VIOLATED, f"{text} has another one, or one of half precision", line)
    if own is not None and other is not None and own.term == other.term and known:
        return Obligation(SAME_DTYPE, Discharge.PROVED, f"{text} is {own.term}, as the number", line)
    return Obligation(SAME_DTYPE, Discharge.ASSUMED, f"nothing shows that of {text}", line)


def _division(read: Read, met: Met) -> Obligation:
    """An accelerator divides by a tensor of its own as by any other, by one of the CPU as by a number."""
    if met.meeting.operator is not ast.Div:
        return Obligation(DTYPE, Discharge.PROVED, f"{_text(met)} is multiplied", met.meeting.line)
    if read.value.devices == {"cpu"}:
        return Obligation(DTYPE, Discharge.PROVED, "a 0-d tensor on the CPU divides as a number does", read.node.lineno)
    return Obligation(DTYPE, Discharge.ASSUMED, f"dividing {_text(met)} is the same on the CPU only", met.meeting.line)


def _text(met: Met) -> str:
    return shorten(met.flow.context.source.segment(met.meeting.tensor), 40)


def _tensor_text(view: FileView, read: Read) -> str:
    """The tensor without dimensions that stands for the number, shared with nobody."""
    text = render(view.source, read.tensor, {}, indentation_of(view.source, read.tensor)) or ""
    if not isinstance(read.tensor, _ATOMS):
        text = f"({text})"
    if not read.value.is_scalar:
        text += ".reshape(())"
    if not text.endswith(".detach()"):
        text += ".detach()"
    fresh = read.value.fresh and isinstance(read.tensor, ast.Call | ast.BinOp)
    return text if fresh else f"{text}.clone()"


def _find(view: FileView) -> Iterator[Finding]:
    found = handed_findings(view)
    if found and not view.project.torch.captures("item"):  # asked last: the answer may take a run of torch
        yield from found


RULE = Rule(*HANDED_ON, "a number read out of a tensor and handed on to scale tensors", __doc__, _find)
