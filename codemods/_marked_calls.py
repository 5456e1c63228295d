"""Which statements are to mark sizes, for a function that was compiled again for others."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from gbfix.analysis.project import FileView, Project
from gbfix.codemods._always import statement_of
from gbfix.codemods._compiled_calls import calls_of, passed_to
from gbfix.codemods._follow import CallSite, Missed
from gbfix.codemods._mark_obligations import IS_DYNAMIC, in_words, told
from gbfix.codemods._marks import WEAK, Mark, is_marked, marked_statement
from gbfix.codemods._recompiled import Recompiled
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._size_uses import what_fixes_the_size
from gbfix.engine.dataclass import dataclass

_REACHED = "a mark can stand before its calls"


@dataclass(frozen=True, eq=False)
class MarkedStatement:
    """A statement with calls of one compiled function, and what is to be marked before it.

    is_certain: False when something else than that function may be called there. refused: why no mark can be made.
    """

    view: FileView
    node: ast.stmt
    marks: tuple[Mark, ...]
    is_certain: bool = True
    refused: RefusedError | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """What to mark. missed: the calls before which no mark can stand, and where calls may be that are not known."""

    to_mark: tuple[MarkedStatement, ...]
    missed: tuple[Missed, ...]


@lru_cache(maxsize=64)
def plan(project: Project, one: Recompiled) -> Plan | RefusedError:
    """The statements that marks have to stand before, or why there is nothing that marks could do."""
    try:
        _check_worth(one)
        _check_open(project.view(one.path), one)
        return _plan(project, one)
    except RefusedError as refused:
        return refused


def _check_worth(one: Recompiled) -> None:
    """Raise RefusedError when the run shows that marks would save nothing."""
    claim = "a mark saves a compilation"
    if not one.varying:
        what = one.row.source_name or "a tensor"
        reason = f"the size that changed is that of {what}, which is no argument that is a tensor in every call"
        raise RefusedError(claim, reason, one.line, "pass the tensor as an argument, or keep its size the same")
    if one.expected < one.compiles:
        return
    advice = "nothing has to be done: each case is compiled once and kept"
    reason = f"other things than sizes changed as well: {told(one)}"
    if one.special:
        sizes = " and ".join(map(str, one.special))
        reason = f"size {sizes} was seen, which PyTorch always compiles for itself, marked or not: {told(one)}"
        advice = (
            "nothing has to be done: it is compiled once and kept; torch._dynamo.decorators.mark_unbacked covers sizes "
            "0 and 1 too, but then a branch on the size breaks the graph, or is an error under fullgraph=True"
        )
    raise RefusedError(claim, reason, one.line, advice)


def _check_open(home: FileView, one: Recompiled) -> None:
    """Raise RefusedError when the source shows that a size is fixed."""
    fixes = what_fixes_the_size(home, one.function, one.varying) if one.function is not None else None
    if fixes is not None:
        advice = "keep the size the same, or pad to a few sizes in the caller; a mark would not help"
        raise RefusedError(IS_DYNAMIC, fixes[0], fixes[1], advice)


def _plan(project: Project, one: Recompiled) -> Plan:
    statements: dict[ast.stmt, MarkedStatement] = {}
    missed: list[Missed] = []
    inside: list[Missed] = []
    marked = 0
    for found in calls_of(project, one.path, one.function, one.entry):
        if isinstance(found, Missed):
            missed.append(found)
        elif (reason := _compiled_around(found.view, found.call)) is not None:
            # Other compiled code takes the function in, and does not start it.
            inside.append(Missed(found.view.source.path, found.call.lineno, reason))
        else:
            try:
                statement = statement_of(found.view, found.call)
                wanted = _marks(one, found)
            except RefusedError as refused:
                missed.append(Missed(found.view.source.path, refused.obligation.line, refused.obligation.reason))
                continue
            earlier = {node: planned.marks for node, planned in statements.items()}
            new = tuple(mark for mark in wanted if not is_marked(found.view, statement, mark, earlier))
            marked += not new
            if new:
                planned = statements.get(statement) or MarkedStatement(found.view, statement, ())
                certain = planned.is_certain and found.is_certain
                statements[statement] = replace(planned, marks=(*planned.marks, *new), is_certain=certain)
    if not statements and not marked:
        raise _not_reached(one, [*missed, *inside])
    to_mark = tuple(_with_refusal(statement) for statement in statements.values())
    missed += [_missed(statement) for statement in to_mark if statement.refused is not None]
    return Plan(to_mark, tuple(missed))


def _with_refusal(statement: MarkedStatement) -> MarkedStatement:
    try:
        marked_statement(statement.view, statement.node, statement.marks, WEAK)
    except RefusedError as refused:
        return replace(statement, refused=refused)
    return statement


def _missed(statement: MarkedStatement) -> Missed:
    assert statement.refused is not None
    obligation = statement.refused.obligation
    return Missed(statement.view.source.path, obligation.line, obligation.reason)


def _not_reached(one: Recompiled, missed: Sequence[Missed]) -> RefusedError:
    first = one.varying[0]
    mark = f"torch._dynamo.maybe_mark_dynamic({first.parameter}{first.path}, {first.dimensions[0]})"
    advice = f"call {mark} in the code that calls it, before the first call"
    if missed:
        return RefusedError(_REACHED, in_words(missed), missed[0].line, advice)
    return RefusedError(_REACHED, f"no call of {one.name} is in the given files", one.line, advice)


def _compiled_around(view: FileView, call: ast.Call) -> str | None:
    """Why a call is made by compiled code, where a mark would be an error; None when it is not."""
    compiled = {one.function.node: one.reason for one in view.compiled}
    for parent in view.source.ancestors(call):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and parent in compiled:
            return f"the code around it is compiled: {compiled[parent]}"
    return None


def _marks(one: Recompiled, site: CallSite) -> list[Mark]:
    call = site.call
    parameters = one.parameters(len(call.args), [k.arg for k in call.keywords if k.arg is not None])
    passed = passed_to(parameters, call)
    if passed is None:
        raise RefusedError(_REACHED, "the call unpacks its arguments", call.lineno, "")
    found = []
    for varying in one.varying:
        argument = passed.get(varying.parameter)
        if argument is not None and not isinstance(argument, ast.Constant):
            alone = site.is_certain and all(isinstance(o, ast.Constant) for o in passed.values() if o is not argument)
            found.append(Mark(argument, varying.path, varying.dimensions, varying.parameter, alone))
    return found
