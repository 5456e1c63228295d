"""Finds the messages of a file's compiled functions, and decides what becomes of each."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from gbfix.analysis.flow import flow_of
from gbfix.analysis.preferences import Messages
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.traced import REASON as OBSERVED_REGION
from gbfix.codemods._edges import ADVICE, EDGE
from gbfix.codemods._graph_reports import in_graph
from gbfix.codemods._graph_speech import said_in_graph
from gbfix.codemods._obligations import shorten
from gbfix.codemods._outside import Outside, Plan
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._report_units import LOGGING, PRINT, REPORT, WARNING, Unit, only_reports, units_of
from gbfix.codemods._report_ways import boundary, drop
from gbfix.codemods._tails import messages_leave
from gbfix.engine.model import Discharge, Finding

LOGGING_RULE = ("GBF310", "logging-in-region")
WARNING_RULE = ("GBF311", "warning-in-region")
REPORT_RULE = ("GBF312", "reporting-helper")
_PROBES = {LOGGING: "logging", WARNING: "warnings.warn", REPORT: "print"}
_RULES = {LOGGING: LOGGING_RULE, WARNING: WARNING_RULE, REPORT: REPORT_RULE}


@lru_cache(maxsize=2)
def report_findings(view: FileView) -> tuple[Finding, ...]:
    """Every message in the compiled functions of a file that costs something, in source order, each with one code."""
    found: list[Finding] = []
    for compiled in view.compiled:
        found += _in_function(view, compiled)
    return tuple(sorted(found, key=lambda finding: (finding.span, finding.code)))


def findings_of(view: FileView, rule: tuple[str, str]) -> Iterator[Finding]:
    """The findings of one rule."""
    return (finding for finding in report_findings(view) if finding.code == rule[0])


def _in_function(view: FileView, compiled: CompiledFunction) -> Iterator[Finding]:
    if not units_of(view, compiled.function):
        return
    node, called = compiled.function.node, is_called(compiled)
    if called and isinstance(node, ast.FunctionDef) and only_reports(view, node):
        return  # its calls are what is found
    if said_in_graph(view, node):
        return
    outside = Outside(flow_of(view, compiled.function))
    handled: set[Unit] = set()
    tail = messages_leave(view, compiled.function)
    for unit in outside.edges.units:
        if tail is not None and tail.holds(unit.statement):
            continue
        if unit in handled or unit.kind not in _RULES or unit.statement not in outside.flow.before:
            continue
        if view.project.torch.captures(_PROBES[unit.kind]):
            continue
        if called or not outside.edges.is_at_edge(unit):
            finding, units = _attempt(outside, compiled, unit)
            handled.update(units)
            yield finding


def is_called(compiled: CompiledFunction, *, certainly: bool = True) -> bool:
    """True for a function that others call from within a region: a break in it breaks them, wherever it stands.

    Not certainly so is one of which only a run shows that it is compiled.
    """
    return compiled.reason.startswith("called from") or (not certainly and compiled.reason == OBSERVED_REGION)


def _attempt(outside: Outside, compiled: CompiledFunction, unit: Unit) -> tuple[Finding, tuple[Unit, ...]]:
    found = Finding(
        *_RULES[unit.kind],
        outside.source.span(unit.statement),
        f"{shorten(outside.source.segment(unit.messages[0].func))}(...) ends the graph",
        compiled.function.qualname,
        compiled.reason,
    )
    try:
        plan = plan_of(outside, compiled, unit)
    except RefusedError as refused:
        return replace(found, obligations=(refused.obligation,), advice=refused.advice), (unit,)
    return replace(found, obligations=plan.obligations, fix=plan.fix), plan.units


def plan_of(outside: Outside, compiled: CompiledFunction, unit: Unit) -> Plan:
    """The way that the user chose, or the strongest that is exact. Raises RefusedError when there is none."""
    choice = outside.flow.context.view.project.preferences.messages
    if choice is Messages.DROP:
        return drop(outside.flow, unit)
    if choice is Messages.BOUNDARY:
        return boundary(outside.flow, compiled, unit)
    if choice is Messages.IN_GRAPH and unit.kind not in (REPORT, PRINT):
        return in_graph(outside.flow, compiled, unit)
    try:
        _check_region(compiled, unit)
        plan, refusal = outside.plan(unit), None
    except RefusedError as refused:
        plan, refusal = None, refused
    inside = is_called(compiled, certainly=False)  # at an edge, too, it breaks what calls the function
    if choice is Messages.AUTO and (plan is None or _assumed(plan) or inside):
        with contextlib.suppress(RefusedError):
            other = in_graph(outside.flow, compiled, unit)
            if plan is None or _assumed(other) < _assumed(plan) + inside:
                return other
        if plan is None and not compiled.fullgraph:
            with contextlib.suppress(RefusedError):
                return boundary(outside.flow, compiled, unit)
    if plan is None:
        assert refusal is not None
        raise refusal
    return plan


def _assumed(plan: Plan) -> int:
    return sum(obligation.discharge is Discharge.ASSUMED for obligation in plan.obligations)


def _check_region(compiled: CompiledFunction, unit: Unit) -> None:
    line = unit.statement.lineno
    if compiled.fullgraph:
        reason = "fullgraph=True allows no message, also not where the function ends"
        raise RefusedError("the caller allows a break", reason, line, ADVICE)
    if is_called(compiled):
        advice = (
            "return what it says and report it where the compiled code is called, "
            "or leave it out of compiled code with --messages drop"
        )
        raise RefusedError(EDGE, f"{compiled.function.qualname} is {compiled.reason}", line, advice)
