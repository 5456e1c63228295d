"""Numbers of selected elements, such as `len(x[m])` and `m.nonzero().shape[0]`, as tensors without dimensions."""

from __future__ import annotations

import ast

from gbfix.analysis import sizes
from gbfix.analysis.flow import State
from gbfix.analysis.literals import shorten
from gbfix.analysis.values import Kind, Value
from gbfix.codemods import _mask_duties as duty
from gbfix.codemods._count_uses import ADVICE, CONSUMED, CountUses
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._selections import SelectionReader
from gbfix.codemods._sites import torch_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation, Replacement


@dataclass(frozen=True)
class Count:
    """An expression for the number of elements of `mask` that are not zero; base: what the mask selects from."""

    node: ast.expr
    mask: ast.expr
    base: ast.expr | None = None


def count_in(reader: SelectionReader, node: ast.expr, state: State) -> Count | None:
    """The count that an expression spells; None for another expression."""
    match node:
        case ast.Call(func=ast.Name(id="len") as func, args=[counted], keywords=[]) if reader.names.is_builtin(
            func, "len"
        ):
            return _rows(reader, node, counted, state)
        case ast.Subscript(value=ast.Attribute(value=counted, attr="shape"), slice=ast.Constant(value=0)):
            return _rows(reader, node, counted, state)
        case ast.Call(func=ast.Attribute(value=counted, attr="size"), args=[ast.Constant(value=0)], keywords=[]):
            return _rows(reader, node, counted, state)
        case ast.Call(func=ast.Attribute(value=counted, attr="numel" | "nelement"), args=[], keywords=[]):
            selection = reader.selection(counted, state)
            if selection is None:
                return _count_of(node, _places(reader, counted, state, whole=False))
            base, mask = (reader.flow.evaluate(part, state)[0] for part in (selection.base, selection.mask))
            return Count(node, selection.mask) if base.shape == mask.shape else None
        case _:
            return None


def _rows(reader: SelectionReader, node: ast.expr, counted: ast.expr, state: State) -> Count | None:
    selection = reader.selection(counted, state)
    if selection is not None and selection.broadcasts:
        base, mask = (reader.flow.evaluate(part, state)[0] for part in (selection.base, selection.mask))
        return Count(node, selection.mask) if base.shape == mask.shape else None
    if selection is not None:
        return Count(node, selection.mask, selection.base)
    return _count_of(node, _places(reader, counted, state, whole=True))


def _count_of(node: ast.expr, mask: ast.expr | None) -> Count | None:
    return None if mask is None else Count(node, mask)


def _places(reader: SelectionReader, node: ast.expr, state: State, *, whole: bool) -> ast.expr | None:
    """The tensor whose elements other than zero an expression lists, one a row; whole: their indices together."""
    found = _listed(reader, node, state, whole=whole)
    if found is not None:
        reader.use(node)
    return found


def _listed(reader: SelectionReader, node: ast.expr, state: State, *, whole: bool) -> ast.expr | None:
    names = reader.names
    match reader.meaning(node):
        case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int())):
            match call:
                case ast.Call(func=func, args=[mask], keywords=[]) if names.qualified(func) == "torch.where":
                    return _tensor(reader, mask, state)
                case ast.Call(keywords=[ast.keyword(arg="as_tuple", value=ast.Constant(value=True))]):
                    return _nonzero(reader, call, state)
            return None
        case ast.Call(keywords=[]) as call if whole:
            return _nonzero(reader, call, state)
        case _:
            return None


def _nonzero(reader: SelectionReader, call: ast.Call, state: State) -> ast.expr | None:
    qualified = reader.names.qualified(call.func)
    if qualified in ("torch.nonzero", "torch.argwhere") and len(call.args) == 1:
        return _tensor(reader, call.args[0], state)
    method = isinstance(call.func, ast.Attribute) and call.func.attr in ("nonzero", "argwhere")
    if qualified is None and method and not call.args:
        assert isinstance(call.func, ast.Attribute)
        return _tensor(reader, call.func.value, state)
    return None


def _tensor(reader: SelectionReader, node: ast.expr, state: State) -> ast.expr | None:
    return node if reader.flow.evaluate(node, state)[0].tensor_like else None


def counted(reader: SelectionReader, count: Count, state: State) -> tuple[list[Replacement], list[Obligation]]:
    """The number as a tensor, and what that relies on. Raises RefusedError."""
    mask, evaluation = reader.flow.evaluate(count.mask, state)
    line = count.node.lineno
    for note in [*evaluation.effects.impure, *evaluation.effects.random, *evaluation.effects.reads]:
        raise RefusedError("it only computes", note.text, note.line, ADVICE)
    obligations = [_is_tensor(reader, count, mask), *_fits(reader, count, mask, state)]
    known = len(obligations)
    text = ast.unparse(count.mask)
    torch, _ = torch_name(reader.flow.context.view, count.node)
    found = [Replacement(reader.source.span(count.node), f"{torch}.count_nonzero({text})")]
    CountUses(reader, mask, found, obligations).follow(count.node, state)
    if len(obligations) == known:
        raise RefusedError(CONSUMED, f"nothing uses {shorten(text)}", line, ADVICE)
    return found, obligations


def _is_tensor(reader: SelectionReader, count: Count, mask: Value) -> Obligation:
    text, line = shorten(reader.source.segment(count.mask)), count.node.lineno
    if mask.kind is Kind.MAYBE or mask.assumed:
        return Obligation(duty.TENSORS, Discharge.ASSUMED, f"nothing shows that {text} is one", line)
    return Obligation(duty.TENSORS, Discharge.PROVED, f"{text} is one", line)


def _fits(reader: SelectionReader, count: Count, mask: Value, state: State) -> list[Obligation]:
    """A mask of another shape raises where it selects, and can be counted all the same."""
    if count.base is None:
        return []
    base = reader.flow.evaluate(count.base, state)[0]
    texts = [shorten(reader.source.segment(node)) for node in (count.mask, count.base)]
    line = count.node.lineno
    if base.shape == mask.shape or (sizes.ranks(base.shape or ()) and sizes.ranks(mask.shape or ())):
        return [Obligation(duty.SHAPE, Discharge.PROVED, f"{texts[0]} has that of {texts[1]}", line)]
    return [Obligation(duty.SHAPE, Discharge.ASSUMED, f"nothing shows that {texts[0]} fits {texts[1]}", line)]
