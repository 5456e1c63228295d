"""Loops that fill the beginning or the end of each row, up to a length that a tensor holds."""

from __future__ import annotations

import ast

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import is_literal
from gbfix.analysis.values import Kind
from gbfix.codemods._mask_duties import DEVICE
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation, Replacement

LENGTHS = "there is one length for each row, none below zero"
_ADVICE = "compare torch.arange(x.shape[1]) with lengths[:, None], and fill with masked_fill_"


@dataclass(frozen=True)
class Prefix:
    """`filled[row, :lengths[row]] = value` for every row; after: from the length on."""

    filled: ast.Name
    lengths: ast.Name
    value: ast.expr
    after: bool


def prefix_in(flow: Flow, loop: ast.For) -> Prefix | None:
    """The fill that a loop makes row by row; None for another loop."""
    rows = _rows(flow, loop)
    if rows is None or loop.orelse or len(loop.body) != 1:
        return None
    index, length, lengths = rows
    match loop.body[0]:
        case ast.Assign(
            targets=[
                ast.Subscript(
                    value=ast.Name() as filled,
                    slice=ast.Tuple(elts=[ast.Name(id=row), ast.Slice(lower=lower, upper=upper, step=None)]),
                )
            ],
            value=value,
        ) if row == index and (lower is None) != (upper is None):
            bound = lower if lower is not None else upper
            assert bound is not None
            named = _lengths(bound, index, length, lengths)
            return Prefix(filled, named, value, after=lower is not None) if named is not None else None
        case _:
            return None


def _rows(flow: Flow, loop: ast.For) -> tuple[str, str, ast.Name | None] | None:
    """The names of the row and of its length, and the lengths where the loop itself goes over them."""
    names = flow.context.names
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=index), ast.Name(id=length)]),
            iter=ast.Call(func=ast.Name(id="enumerate") as func, args=[values], keywords=[]),
        ) if names.is_builtin(func, "enumerate"):
            match values:
                case ast.Call(func=ast.Attribute(value=ast.Name() as lengths, attr="tolist"), args=[]):
                    return index, length, lengths
                case ast.Name():
                    return index, length, values
            return None
        case ast.For(target=ast.Name(id=index), iter=ast.Call(func=ast.Name(id="range") as func, args=[_])) if (
            names.is_builtin(func, "range")
        ):
            return index, "", None
        case _:
            return None


def _lengths(bound: ast.expr, index: str, length: str, lengths: ast.Name | None) -> ast.Name | None:
    match bound:
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            return _lengths(inner, index, length, lengths)
        case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
            return _lengths(inner, index, length, lengths)
        case ast.Name(id=name) if name == length:
            return lengths
        case ast.Subscript(value=ast.Name() as named, slice=ast.Name(id=row)) if row == index:
            return named
        case _:
            return None


def prefixed(flow: Flow, loop: ast.For, state: State) -> tuple[list[Replacement], list[Obligation]]:
    """The fill of all rows at once. Raises RefusedError."""
    prefix = prefix_in(flow, loop)
    assert prefix is not None
    line = loop.lineno
    filled, lengths = (flow.evaluate(node, state)[0] for node in (prefix.filled, prefix.lengths))
    if filled.kind is not Kind.TENSOR or lengths.kind is not Kind.TENSOR:
        raise RefusedError("the rows and their lengths are tensors", "nothing shows it", line, _ADVICE)
    rank = sizes.ranks(filled.shape or ()) or _rank_made(flow, prefix.filled)
    if rank != {2} or (sizes.ranks(lengths.shape or ()) or {1}) != {1}:
        reason = f"nothing shows that {prefix.filled.id} has two dimensions"
        raise RefusedError(
            "what is filled has two dimensions", reason, line, f"record a run with gbfix trace; or {_ADVICE}"
        )
    if not is_literal(prefix.value):
        reason = f"{ast.unparse(prefix.value)} may differ from row to row"
        raise RefusedError("the rows are filled with one constant", reason, line, _ADVICE)
    torch, _ = torch_name(flow.context.view, loop)
    name = prefix.filled.id
    places = f"{torch}.arange({name}.shape[1], device={name}.device)"
    compared = f"{places} {'>=' if prefix.after else '<'} {prefix.lengths.id}[:, None]"
    text = f"{name}.masked_fill_({compared}, {ast.unparse(prefix.value)})"
    reason = f"a negative element of {prefix.lengths.id} counts from the end, and the loop may have other rows"
    on_it = filled.devices == lengths.devices
    where = Discharge.PROVED if on_it else Discharge.ASSUMED
    return [Replacement(flow.context.source.span(loop), text)], [
        Obligation(DEVICE, where, f"{prefix.lengths.id} and {name} {'are' if on_it else 'may not be'} on one", line),
        Obligation(
            "the rows and their lengths are tensors", Discharge.PROVED, f"{name} and {prefix.lengths.id} are", line
        ),
        Obligation(LENGTHS, Discharge.ASSUMED, reason, line),
    ]


def _rank_made(flow: Flow, node: ast.Name) -> set[int]:
    """The number of dimensions of a tensor that a factory made from sizes given one by one."""
    bindings = flow.context.names.bindings(node.id, node)
    if len(bindings) != 1 or not isinstance(bindings[0].statement, ast.Assign):
        return set()
    match bindings[0].statement.value:
        case ast.Call(func=func, args=[ast.Tuple(elts=parts)]) | ast.Call(func=func, args=parts) if (
            flow.context.names.qualified(func) in ("torch.zeros", "torch.ones", "torch.empty")
        ):
            return {len(parts)}
        case _:
            return set()
