"""Other ways for messages than to the edge: a function that is not compiled, and only without torch.compile."""

from __future__ import annotations

import ast

from gbfix.analysis.flow import Flow, flow_of
from gbfix.analysis.preferences import Messages
from gbfix.analysis.regions import CompiledFunction
from gbfix.codemods._edges import ADVICE, Edges
from gbfix.codemods._outside import Plan
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._report_functions import NO_FULLGRAPH, own_function
from gbfix.codemods._report_units import Unit
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import indentation_of, reindented
from gbfix.engine.model import Discharge, Fix, Obligation, Replacement

GAIN = "a function that is not compiled saves a graph"
NOT_NEEDED = "nobody needs the message under torch.compile"
_DISABLES = ("torch.compiler.disable", "torch._dynamo.disable")
_FIRST_WITH_REASON = (2, 8)


def boundary(flow: Flow, compiled: CompiledFunction, unit: Unit) -> Plan:
    """The function that a message calls, under torch.compiler.disable: one break stays, at its call.

    What it saves is tracing the function and compiling it in pieces between its messages. Raises RefusedError.
    """
    view, line = flow.context.view, unit.statement.lineno
    helpers = [helper for helper in unit.helpers if helper in view.source.function_of_node]
    reason = '(reason="only reports")' if _version(view.project.torch.version) >= _FIRST_WITH_REASON else ""
    if not unit.helpers and view.project.preferences.messages is Messages.BOUNDARY:
        return own_function(flow, compiled, unit, reason)
    if not helpers:
        advice = "put the messages into a function that does nothing else"
        raise RefusedError(GAIN, "it is no call of a function of this file that only reports", line, advice)
    helper = helpers[0]
    names = [view.names.qualified(one.func if isinstance(one, ast.Call) else one) for one in helper.decorator_list]
    if any(name in _DISABLES for name in names):
        raise RefusedError(GAIN, f"{helper.name} is not compiled as it is", helper.lineno, ADVICE)
    if helper.decorator_list:
        raise RefusedError(
            GAIN, f"{helper.name} has decorators, which may need the function itself", helper.lineno, ADVICE
        )
    if any(one.fullgraph and one.function.node in (helper, compiled.function.node) for one in view.compiled):
        error = "fullgraph=True makes the call of a function that is not compiled an error"
        raise RefusedError(NO_FULLGRAPH, error, line, ADVICE)
    inner = Edges(flow_of(view, view.source.function_of_node[helper]))
    if not inner.computes:
        raise RefusedError(GAIN, f"{helper.name} computes nothing that would be compiled", helper.lineno, ADVICE)
    torch, missing = torch_name(view, helper)
    start = view.source.span(helper)  # with its decorators
    first, *rest = view.source.lines[start.line - 1 : start.end_line]
    whole = "\n".join([first[start.column :], *rest])
    text = reindented(whole, indentation_of(view.source, helper), "")
    fix = Fix(
        f"do not compile {helper.name}, nor what it calls",
        (Replacement(start, f"@{torch}.compiler.disable{reason}\n{text}"),),
        ("torch",) if missing else (),
    )
    saved = Obligation(
        GAIN, Discharge.PROVED, f"{helper.name} is compiled in pieces between its messages", helper.lineno
    )
    return Plan(fix, (saved, _no_fullgraph(compiled, inner, helper)), (unit,))


def _no_fullgraph(compiled: CompiledFunction, inner: Edges, helper: ast.FunctionDef) -> Obligation:
    if any(unit.statement in helper.body and not isinstance(unit.statement, ast.If) for unit in inner.units):
        reason = f"each call of {helper.name} says something, which fullgraph=True does not allow either"
        return Obligation(NO_FULLGRAPH, Discharge.PROVED, reason, helper.lineno)
    if compiled.fullgraph is False:
        return Obligation(NO_FULLGRAPH, Discharge.PROVED, "the caller is compiled with fullgraph=False", helper.lineno)
    reason = f"a call of {helper.name} that says nothing would be an error"
    return Obligation(NO_FULLGRAPH, Discharge.ASSUMED, reason, helper.lineno)


def drop(flow: Flow, unit: Unit) -> Plan:
    """The message only where the program runs without torch.compile: this changes what is seen."""
    view, node = flow.context.view, unit.statement
    torch, missing = torch_name(view, node)
    text = reindented(reindented(view.source.segment(node), indentation_of(view.source, node), ""), "", "    ")
    fix = Fix(
        "say it only without torch.compile, which changes what is seen",
        (Replacement(view.source.span(node), f"if not {torch}.compiler.is_compiling():\n{text}"),),
        ("torch",) if missing else (),
    )
    reason = "the compiled program does not say it any more"
    return Plan(fix, (Obligation(NOT_NEEDED, Discharge.ASSUMED, reason, node.lineno),), (unit,))


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)
