"""Assignments to selected elements of values that are selected, too: `y[m] = f(y[m])`."""

from __future__ import annotations

import ast

from gbfix.analysis import values as v
from gbfix.analysis.flow import State
from gbfix.analysis.literals import shorten
from gbfix.analysis.values import Value
from gbfix.codemods import _mask_duties as duty
from gbfix.codemods._reductions import dense_text
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._selections import ADVICE, Dense, Selection, SelectionReader, selection_in, text_with
from gbfix.codemods._sites import torch_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation, Replacement

NOT_EXPANDED = "the tensor that is written into is not expanded"
_PLAIN_BASES = (ast.Name, ast.Attribute)


@dataclass(frozen=True)
class Assignment:
    """`base[mask] = value`; augmented: `base[mask] op= operand`, whose value is the whole operation."""

    statement: ast.Assign | ast.AugAssign
    base: ast.expr
    mask: ast.expr
    value: ast.expr


def assignment_in(reader: SelectionReader, statement: ast.stmt, state: State) -> Assignment | None:
    """The assignment of selected values that a statement is; None for another statement."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            selection = _target(reader, target, state)
            if selection is None or not reader.selections(value, state):
                return None
            return Assignment(statement, selection.base, selection.mask, value)
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            selection = _target(reader, target, state)
            if selection is None:
                return None
            whole = ast.copy_location(ast.BinOp(_loaded(target), op, value), statement)
            return Assignment(statement, selection.base, selection.mask, whole)
        case _:
            return None


def _loaded(target: ast.Subscript) -> ast.Subscript:
    return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)


def _target(reader: SelectionReader, target: ast.Subscript, state: State) -> Selection | None:
    found = selection_in(reader.names, target)
    if found is None or not isinstance(found.base, _PLAIN_BASES):
        return None
    return reader.selection(target, state)


def assigned(reader: SelectionReader, site: Assignment, state: State) -> tuple[list[Replacement], list[Obligation]]:
    """The assignment as a choice between new and old values, and what it relies on. Raises RefusedError."""
    dense = reader.dense(site.value, state, site.mask)
    line = site.statement.lineno
    for selection in dense.selected.values():
        if selection.broadcasts:
            raise RefusedError(duty.SHAPE, "masked_select broadcasts", line, ADVICE)
    own = reader.flow.evaluate(site.base, state)[0]
    lacking = duty.missing_dimensions(reader.flow, state, dense)
    if _lacking_of(reader, site, state, own) != lacking:
        raise RefusedError(duty.SHAPE, "the tensors have different shapes", line, ADVICE)
    obligations = duty.common_obligations(reader.flow, state, dense, lacking)
    obligations += duty.safe_value_obligations(dense)
    obligations.append(_dtype(own, dense, line))
    torch, _ = torch_name(reader.flow.context.view, site.statement)
    mask, base = ast.unparse(site.mask), ast.unparse(site.base)
    if lacking:
        mask = f"{mask if isinstance(site.mask, ast.Name) else f'({mask})'}[..., {', '.join(['None'] * lacking)}]"
    replaces = isinstance(site.base, ast.Name) and own.fresh and own.layout == v.CONTIGUOUS
    text = _new_values(reader, dense, mask, torch, site, state, replaces=replaces)
    chosen = f"{torch}.where({mask}, {text}, {base})"
    if replaces:
        reason = f"nothing else can reach {base}, which is contiguous"
        obligations.append(Obligation("identity and strides do not matter", Discharge.PROVED, reason, line))
        new = f"{base} = {chosen}"
    else:
        obligations.append(_not_expanded(own, base, line))
        new = f"{base}.copy_({chosen})"
    return [Replacement(reader.source.span(site.statement), new)], obligations


def _lacking_of(reader: SelectionReader, site: Assignment, state: State, own: Value) -> int:
    """How many dimensions the mask lacks of what is written into. Raises RefusedError where that is not known."""
    selection = {site.base: Selection(site.base, site.mask)}
    evaluation = reader.dense(site.value, state, site.mask).evaluation
    return duty.missing_dimensions(
        reader.flow, state, Dense(site.base, site.mask, dict(selection), own, evaluation, [], same_bits=True)
    )


def _dtype(own: Value, dense: Dense, line: int) -> Obligation:
    """Writing by an index refuses values of another dtype, which torch.where would convert."""
    known = own.dtype is not None and dense.value.dtype is not None
    text = shorten(ast.unparse(dense.node))
    if known and own.dtype == dense.value.dtype:
        return Obligation(duty.DTYPE, Discharge.PROVED, f"{text} has it", line)
    first = own.dtype.category if own.dtype is not None else None
    second = dense.value.dtype.category if dense.value.dtype is not None else None
    if first is not None and second is not None and first is not second:
        raise RefusedError(duty.DTYPE, f"{text} has another one, for which it raises", line, "convert it with .to()")
    return Obligation(duty.DTYPE, Discharge.ASSUMED, f"{text} may have another one, for which it raised", line)


def _new_values(
    reader: SelectionReader, dense: Dense, mask: str, torch: str, site: Assignment, state: State, *, replaces: bool
) -> str:
    """The new values for all elements. What backward needs must not be what is about to be written."""
    kept = dense.evaluation.effects.saves and not state.gradients_off
    if replaces or not kept or duty.needs_safe_values(dense):
        return dense_text(dense, mask, torch)  # torch.where makes new tensors, which nothing writes into
    own = reader.flow.evaluate(site.base, state)[0]
    replaced: dict[ast.expr, ast.expr] = {}
    for node, selection in dense.selected.items():
        other = reader.flow.evaluate(selection.base, state)[0]
        apart = ast.dump(selection.base) != ast.dump(site.base) and (own.fresh or other.fresh)
        text = ast.unparse(selection.base)
        replaced[node] = ast.parse(text if apart else f"{text}.clone()", mode="eval").body
    return text_with(dense.node, replaced)


def _not_expanded(own: Value, base: str, line: int) -> Obligation:
    if v.is_dense(own.layout):
        return Obligation(NOT_EXPANDED, Discharge.PROVED, f"{base} is dense", line)
    return Obligation(NOT_EXPANDED, Discharge.ASSUMED, f"the strides of {base} are not known", line)
