"""The ends of compiled functions that can leave them, and what that relies on."""

from __future__ import annotations

import ast
from functools import lru_cache

from gbfix.analysis.literals import shorten
from gbfix.analysis.preferences import Messages
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function
from gbfix.analysis.tree import stored_names
from gbfix.analysis.values import Kind
from gbfix.codemods import _scalar_duties as duty
from gbfix.codemods._boundary import NO_FAILURE
from gbfix.codemods._report_functions import CALLER
from gbfix.codemods._report_units import LOGGING, units_of
from gbfix.codemods._scalar_reads import captures_scalars
from gbfix.codemods._tail_search import Tail, read_by, tail_of
from gbfix.engine.model import Discharge, Obligation

ORDER = "the same statements run in the same order"


@lru_cache(maxsize=4)
def tails_of(view: FileView) -> dict[Function, Tail]:
    """The ends of the compiled functions of a file that can leave them, by function."""
    found = {}
    for compiled in view.compiled:
        tail = tail_of(view, compiled)
        if tail is not None and not any(o.discharge is Discharge.VIOLATED for o in obligations_of(tail)):
            found[compiled.function] = tail
    if captures_scalars(view) or (found and view.project.torch.captures("item")):  # asked last: it may run torch
        return {}
    return found


def messages_leave(view: FileView, function: Function) -> Tail | None:
    """The end of a function when its messages leave with it, safely, and the user did not choose another way."""
    tail = tails_of(view).get(function)
    if tail is None or view.project.preferences.messages not in (Messages.AUTO, Messages.OUTSIDE):
        return None
    return None if any(o.discharge is Discharge.ASSUMED for o in obligations_of(tail)) else tail


def needed_by(tail: Tail) -> list[str]:
    """The names that a tail needs and to which the statements before give a value, in the order of these."""
    gone = {part for work in tail.work for node in work.computed for part in ast.walk(node)}
    parts = [part for statement in tail.statements for part in ast.walk(statement) if part not in gone]
    read = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    read |= {part.target.id for part in parts if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name)}
    found = [part for statement in tail.head for part in ast.walk(statement) if isinstance(part, ast.Name)]
    found.sort(key=lambda part: (part.lineno, part.col_offset))
    names = (read & stored_names(tail.head)) | stored_names(tail.late)
    return list(dict.fromkeys(part.id for part in found if part.id in names))


def obligations_of(tail: Tail) -> list[Obligation]:
    """What the split relies on."""
    flow, line = tail.flow, tail.statements[0].lineno
    found = [Obligation(ORDER, Discharge.PROVED, "the function is cut in two where the graph ends", line)]
    known = flow.before[tail.statements[0]].values
    unknown = [name for name in needed_by(tail) if name not in known and name not in stored_names(tail.late)]
    if unknown:
        claim = "everything it reads has a value there"
        found.append(Obligation(claim, Discharge.VIOLATED, f"{unknown[0]} may have none", line))
    found += _late_obligations(tail)
    units = units_of(flow.context.view, flow.context.function)
    spoken = [unit.statement for unit in units if unit.statement in tail.statements]
    for statement, work in zip(tail.statements, tail.work, strict=True):
        for node in work.computed if spoken and spoken[0].lineno < statement.lineno else ():
            state = flow.before[statement]
            unmet = [r for r in flow.evaluate(node, state)[1].effects.requirements if r.key not in state.established]
            if unmet:
                found.append(Obligation(NO_FAILURE, Discharge.ASSUMED, unmet[0].text, unmet[0].line))
        for node in work.python:
            shown = shorten(flow.context.source.segment(node))
            reason = "nothing shows that a graph has no part in it"
            found.append(Obligation(f"{shown} is a Python value", Discharge.ASSUMED, reason, node.lineno))
    logged = [unit.statement for unit in units if unit.kind == LOGGING and unit.statement not in tail.statements]
    if logged:
        reason = "the part that is compiled has another name"
        found.append(Obligation(CALLER, Discharge.ASSUMED, reason, logged[0].lineno))
    return list(dict.fromkeys(found))


def _late_obligations(tail: Tail) -> list[Obligation]:
    """A number that is read later: reading it must not fail, and must not come before what says something."""
    found = []
    for statement in tail.late:
        read = read_by(statement)
        value = tail.flow.evaluate(read, tail.flow.before[statement])[0]
        shown = shorten(tail.flow.context.source.segment(read))
        if value.kind is not Kind.TENSOR or value.assumed:
            reason = f"{shown} is not known to be a tensor"
            found.append(Obligation(duty.TENSOR, Discharge.ASSUMED, reason, statement.lineno))
        if value.one or value.is_scalar:
            found.append(Obligation(duty.ONE, Discharge.PROVED, f"{shown} has one", statement.lineno))
        else:
            reason = f"the number of elements of {shown} is not known"
            found.append(Obligation(duty.ONE, Discharge.ASSUMED, reason, statement.lineno))
    return found
