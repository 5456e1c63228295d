"""Fills in place without asking first: where the mask is false everywhere, nothing is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis import sizes
from gbfix.analysis import values as v
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import shorten
from gbfix.analysis.operations import in_range
from gbfix.analysis.values import Category, Kind
from gbfix.codemods import _mask_duties as masks
from gbfix.codemods import _obligations as duty
from gbfix.codemods._fills import WrittenFill
from gbfix.codemods._mask_assign import NOT_EXPANDED
from gbfix.codemods._obligations import Choice
from gbfix.codemods._predicate import Predicate, PredicateBuilder
from gbfix.codemods._preparations import TOTAL
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scaling_duties import ERRORS, GRADIENTS
from gbfix.codemods._sites import torch_name
from gbfix.engine.model import Discharge, Obligation

ADVICE = "write into the tensor without the branch, if the program allows it"
PROVED, ASSUMED, VIOLATED = Discharge.PROVED, Discharge.ASSUMED, Discharge.VIOLATED


def written_obligations(flow: Flow, node: ast.If, fill: WrittenFill, state: State) -> list[Obligation]:
    """What the fill of `node`, before which `state` holds, relies on when it is made each time. Raises RefusedError."""
    obligations = list(_Duties(flow, node, fill, state).all())
    refused = duty.refusal(obligations, ADVICE)
    if refused is not None:
        raise refused
    return obligations


class _Duties:
    def __init__(self, flow: Flow, node: ast.If, fill: WrittenFill, state: State) -> None:
        self._flow = flow
        self._node = node
        self._fill = fill
        self._state = state
        self._line = node.body[0].lineno
        self._tensor = flow.evaluate(fill.tensor, state)[0]
        self._mask = flow.evaluate(fill.mask, state)[0]
        self._value, self._evaluated = flow.evaluate(fill.value, state)
        if not (fill.by_index and self._is_real()):  # an index makes infinities of numbers that are too large
            in_range(self._evaluated, fill.value, (fill.tensor, self._tensor), fill.value)

    def all(self) -> Iterator[Obligation]:
        """Each of them, with how it was met. Raises RefusedError."""
        torch, _ = torch_name(self._flow.context.view, self._node)
        predicate = PredicateBuilder(self._flow, self._state, torch, self._node).build(self._node.test)
        yield from duty.condition_obligations([Choice(predicate)])
        yield self._only_computes(predicate)
        yield self._is_mask()
        self._check_selects_nothing()
        yield self._is_tensor()
        yield self._cannot_fail(predicate)
        yield self._mask_device()
        if self._value.kind is not Kind.NUMBER:
            yield self._dtype()
            yield self._device()
        yield self._not_expanded()
        yield from duty.module_obligations([Choice(predicate, self._evaluated.effects)])
        yield self._gradients()
        reason = f"{self._fill.tensor.id} is written in each call, which fails where backward needs the old value"
        yield Obligation(ERRORS, ASSUMED, f"{reason}, or for an inference tensor", self._line)

    def _text(self, node: ast.expr) -> str:
        return shorten(self._flow.context.source.segment(node))

    def _is_real(self) -> bool:
        """True for a Python float that is written into a floating-point tensor."""
        floating = self._tensor.dtype is not None and self._tensor.dtype.category is Category.FLOAT
        return floating and self._value.number == "float"

    def _only_computes(self, predicate: Predicate) -> Obligation:
        claim = "both sides only compute"
        made = self._flow.evaluate(self._fill.mask, self._state)[1].effects
        for effects in (predicate.effects, made, self._evaluated.effects):
            for note in [*effects.impure, *effects.random, *effects.reads]:
                return Obligation(claim, VIOLATED, note.text, note.line)
        return Obligation(claim, PROVED, "a fill whose mask is false everywhere writes nothing", self._line)

    def _is_mask(self) -> Obligation:
        """Zeros of an integer index, which are false too, name the first row."""
        claim = "the index is a mask"
        shown = self._text(self._fill.mask)
        if self._mask.dtype is None or self._mask.dtype.category is not Category.BOOL:
            advice = f"write ({shown}) != 0 where the mask is made, or record a run with gbfix trace"
            raise RefusedError(claim, f"nothing shows that {shown} is a bool tensor", self._line, advice)
        return Obligation(claim, PROVED, f"{shown} is a bool tensor", self._line)

    def _check_selects_nothing(self) -> None:
        """A value that is selected by a mask ends the graph itself, with the branch or without."""
        for part in ast.walk(self._fill.value):
            if isinstance(part, ast.Subscript) and self._selects(part.slice):
                claim, shown = "what is written does not depend on how many elements are selected", self._text(part)
                advice = "choose with torch.where, which takes a value for each element"
                raise RefusedError(claim, f"{shown} has as many as its mask is true for", part.lineno, advice)

    def _selects(self, index: ast.expr) -> bool:
        value = self._flow.evaluate(index, self._state)[0]
        return value.tensor_like and value.dtype is not None and value.dtype.category is Category.BOOL

    def _is_tensor(self) -> Obligation:
        name = self._fill.tensor.id
        if not self._tensor.tensor_like:
            raise RefusedError(masks.TENSORS, f"nothing shows that {name} is one", self._line, ADVICE)
        if self._tensor.kind is not Kind.TENSOR:
            return Obligation(masks.TENSORS, ASSUMED, f"nothing shows that {name} is one", self._line)
        if self._tensor.assumed:
            first = min(self._tensor.assumed)
            return Obligation(masks.TENSORS, ASSUMED, first.claim, first.line)
        return Obligation(masks.TENSORS, PROVED, f"{name} is one", self._line)

    # -- shapes and what else can fail --------------------------------------------------------

    def _cannot_fail(self, predicate: Predicate) -> Obligation:
        known = self._state.established | predicate.effects.keys()
        for requirement in self._evaluated.effects.requirements:
            if requirement.key not in known:
                return Obligation(TOTAL, ASSUMED, requirement.text, requirement.line)
        name, mask = self._fill.tensor.id, self._text(self._fill.mask)
        together = sizes.pairs(self._tensor.shape or (), self._mask.shape or ())
        if self._tensor.shape != self._mask.shape and not self._mask_fits(together):
            if together:
                return Obligation(TOTAL, VIOLATED, f"{mask} does not fit {name}", self._line)
            return Obligation(TOTAL, ASSUMED, f"nothing shows that {mask} has a shape that fits {name}", self._line)
        return self._value_fits()

    def _mask_fits(self, together: list[tuple[sizes.Sizes, sizes.Sizes]]) -> bool:
        """An index names the first dimensions; what `masked_fill_` gets is broadcast, aligned at the end."""
        if self._fill.by_index:
            return bool(together) and all(whole[: len(mask)] == mask for whole, mask in together)
        return bool(together) and all(len(m) <= len(whole) and _broadcasts_to(m, whole) for whole, m in together)

    def _value_fits(self) -> Obligation:
        shown = self._text(self._fill.value)
        if self._value.kind is Kind.NUMBER or (self._value.kind is Kind.TENSOR and self._value.is_scalar):
            return Obligation(TOTAL, PROVED, f"{shown} fits any number of elements", self._line)
        if self._value.kind is Kind.OTHER:
            return Obligation(TOTAL, VIOLATED, f"{shown} is neither a number nor a tensor", self._line)
        if not self._value.tensor_like or not self._fill.by_index:
            reason = f"{shown} is not known to be a number, or a tensor without dimensions"
            return Obligation(TOTAL, ASSUMED, reason, self._line)
        rows = [whole[len(mask) :] for whole, mask in sizes.pairs(self._tensor.shape or (), self._mask.shape or ())]
        values = [own for _, own in sizes.pairs(self._tensor.shape or (), self._value.shape or ())]
        if not values or len(values) != len(rows):
            return Obligation(TOTAL, ASSUMED, f"nothing shows the shape of {shown}", self._line)
        if not all(_broadcasts_to(own, row) for own, row in zip(values, rows, strict=True)):
            reason = f"{shown} has as many values as {self._text(self._fill.mask)} selects"
            return Obligation(TOTAL, VIOLATED, reason, self._line)
        return Obligation(TOTAL, PROVED, f"{shown} fits one row, and so any number of rows", self._line)

    def _dtype(self) -> Obligation:
        """Another dtype is an error for an index, also where nothing is written; a number of it may not fit."""
        shown, own, other = self._text(self._fill.value), self._tensor.dtype, self._value.dtype
        if own is not None and own == other:
            return Obligation(masks.DTYPE, PROVED, f"{shown} has it", self._line)
        return Obligation(masks.DTYPE, ASSUMED, f"{shown} may have another one, for which it raises", self._line)

    def _mask_device(self) -> Obligation:
        name, mask = self._fill.tensor.id, self._text(self._fill.mask)
        if self._mask.devices and self._mask.devices == self._tensor.devices:
            return Obligation(masks.DEVICE, PROVED, f"{mask} is where {name} is", self._line)
        return Obligation(masks.DEVICE, ASSUMED, f"{mask} may be on another device than {name}", self._line)

    def _device(self) -> Obligation:
        claim = "both sides are on the same device"
        shown = self._text(self._fill.value)
        there = self._value.devices == self._tensor.devices and bool(self._value.devices)
        if there or (self._value.is_scalar and self._fill.by_index):
            return Obligation(claim, PROVED, f"{shown} is where {self._fill.tensor.id} is, or comes there", self._line)
        return Obligation(claim, ASSUMED, f"{shown} may be on another one", self._line)

    # -- writing ---------------------------------------------------------------------------------

    def _not_expanded(self) -> Obligation:
        name = self._fill.tensor.id
        if v.is_dense(self._tensor.layout):
            return Obligation(NOT_EXPANDED, PROVED, f"{name} is dense", self._line)
        return Obligation(NOT_EXPANDED, ASSUMED, f"the strides of {name} are not known", self._line)

    def _gradients(self) -> Obligation:
        """What is filled keeps its gradient to the bit; the new value gets one of zeros where it had none."""
        if self._state.gradients_off or (not self._value.sources and self._tensor.fresh):
            return Obligation(GRADIENTS, PROVED, "the new value has none", self._line)
        if self._value.sources:
            reason = f"{self._text(self._fill.value)} may require one, which then is zero in place of None"
            return Obligation(GRADIENTS, ASSUMED, reason, self._line)
        reason = f"{self._fill.tensor.id} may be a leaf that requires one, into which nothing can be written"
        return Obligation(GRADIENTS, ASSUMED, reason, self._line)


def _broadcasts_to(shape: sizes.Sizes, whole: sizes.Sizes) -> bool:
    """Whether a tensor of this shape can be written into one of `whole`. Leading ones are left out by an index."""
    kept = shape[next((axis for axis, size in enumerate(shape) if size != 1), len(shape)) :]
    return len(kept) <= len(whole) and all(
        own in (1, size) for own, size in zip(reversed(kept), reversed(whole), strict=False)
    )
