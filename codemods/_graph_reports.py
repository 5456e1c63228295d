"""Messages that the graph itself says, through an operator: with a fixed text, or one that shows integers and texts.

An operator takes integers, such as sizes, and the graph need not be made for each of them, and texts. The message
becomes a function of the module, and an operator with an effect besides: graphs hold it in its place among what they
print and say, and run it as often as they run. Without Dynamo the function is called as any other.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from gbfix.analysis.flow import Flow, reads_tensor
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.values import Kind, Value
from gbfix.codemods._between import is_mode
from gbfix.codemods._graph_report_duties import obligations_of
from gbfix.codemods._graph_speech import MAKER, is_maker, maker_of, maker_source, said_in_graph
from gbfix.codemods._loggers import is_level_guard
from gbfix.codemods._messages import Message, MessageKind, message_of
from gbfix.codemods._obligations import shorten
from gbfix.codemods._outside import Plan
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._report_units import WARNING, Unit
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import in_style_of, indentation_of, reindented, unused_name
from gbfix.codemods._top_level import top_level_statement
from gbfix.codemods._tree import all_names
from gbfix.engine.model import Discharge, Fix, Obligation, Replacement

PROBE = "operator with an effect"
FIXED = "an operator can say it"
ADVICE = "give the message a fixed text, or return what it says and report it where the compiled code is called"
_SHOWN = "what the message shows are integers and texts"
_OPTIONS = {MessageKind.WARNING: ("message", "category"), MessageKind.LOGGING: ("msg",), MessageKind.WRAPPER: ("msg",)}


def in_graph(flow: Flow, compiled: CompiledFunction, unit: Unit) -> Plan:
    """The messages of a statement, each said by an operator in its place. Raises RefusedError."""
    view = flow.context.view
    if not view.project.torch.captures(PROBE):
        reason = f"PyTorch {view.project.torch.version} has no operators with effects"
        raise RefusedError("the installed PyTorch says it from a graph", reason, unit.statement.lineno, ADVICE)
    _check_place(flow, unit)
    statements = [_statement_of(view, call) for call in unit.messages]
    messages = [_checked(flow, call, statement) for call, statement in zip(unit.messages, statements, strict=True)]
    shown = [_shown(flow, statement) for statement in statements]
    fix = _fix(flow, statements, shown)
    line = unit.statement.lineno
    obligations = list(obligations_of(view, messages))
    if names := list(dict.fromkeys(name for names in shown for name in names)):
        obligations.append(Obligation(_SHOWN, Discharge.PROVED, f"{', '.join(names)}", line))
    if compiled.fullgraph:
        reason = "fullgraph=True made this message an error, which now is none"
        obligations.append(Obligation("nobody relies on the error", Discharge.ASSUMED, reason, line))
    return Plan(fix, tuple(obligations), (unit,))


# -- what an operator can say -------------------------------------------------------------------


def _check_place(flow: Flow, unit: Unit) -> None:
    """Tests of tensors break the graph anyway; those that ask a logger do inside the unit."""
    source, line, function = flow.context.source, unit.statement.lineno, flow.context.function.node
    steps = ast.Yield | ast.YieldFrom | ast.Await
    if isinstance(function, ast.AsyncFunctionDef) or any(isinstance(part, steps) for part in ast.walk(function)):
        raise RefusedError(FIXED, "the function runs in steps, between which Dynamo does not follow it", line, ADVICE)
    if unit.helpers:
        name = unit.helpers[0].name
        raise RefusedError(FIXED, f"{name} says it, which other code may call as well", line, ADVICE)
    for part in source.ancestors(unit.statement):
        if part is function:
            break
        if isinstance(part, ast.With) and not all(is_mode(flow.context.view, item.context_expr) for item in part.items):
            text = shorten(source.segment(part.items[0].context_expr))
            raise RefusedError(FIXED, f"{text} may decide what is said within it", part.lineno, ADVICE)
        if isinstance(part, ast.Try) and part.handlers and unit.kind == WARNING:
            raise RefusedError(FIXED, "the `try` around it could not catch it as an error", part.lineno, ADVICE)
    inside = [part for part in ast.walk(unit.statement) if isinstance(part, ast.If)]
    around = [part for part in source.ancestors(unit.statement) if isinstance(part, ast.If | ast.While)]
    for part in [*inside, *around]:
        text = shorten(source.segment(part.test))
        if part in inside and is_level_guard(flow.context.view, part.test):
            raise RefusedError(FIXED, f"{text} asks a logger, which ends the graph, too", part.lineno, ADVICE)
        state = flow.before.get(part)
        if state is not None and reads_tensor(flow, state, part.test):
            reason = f"it runs for one value of {text} only, where the graph breaks"
            raise RefusedError("the message does not depend on a tensor", reason, part.test.lineno, ADVICE)


def _statement_of(view: FileView, call: ast.Call) -> ast.Expr:
    statement = view.source.parents[call]
    if not isinstance(statement, ast.Expr):
        raise RefusedError(FIXED, "it stands within another statement", call.lineno, ADVICE)
    return statement


def _checked(flow: Flow, call: ast.Call, statement: ast.Expr) -> Message:
    """The message that a call is, when all that it needs is the same at every call, or an integer."""
    view = flow.context.view
    message, line = message_of(view, call), call.lineno
    shown = _shown(flow, statement)
    allowed = _OPTIONS.get(message.kind) if message is not None else None
    if message is None or allowed is None or message.starred:
        raise RefusedError(FIXED, "what it says is not fixed", line, ADVICE)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "exception":
        raise RefusedError(FIXED, "it shows the exception that is being handled", line, ADVICE)
    for name in (keyword.arg for keyword in call.keywords if keyword.arg not in allowed):
        raise RefusedError(FIXED, f"{name} may ask for the place where it stands", line, ADVICE)
    is_warning = message.kind is MessageKind.WARNING
    if is_warning and (len(call.args) > 2 or view.names.qualified(call.func) != "warnings.warn"):
        raise RefusedError(FIXED, "the warning names the place that it is about", line, ADVICE)
    for part in ast.walk(call):
        if isinstance(part, ast.Name):
            if part.id not in shown:
                _check_name(view, part)
        elif isinstance(part, ast.Call | ast.Subscript | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) and (
            part is not call
        ):
            reason = f"{shorten(view.source.segment(part))} is computed for it"
            raise RefusedError(FIXED, reason, part.lineno, ADVICE)
    return message


def _shown(flow: Flow, statement: ast.Expr) -> dict[str, str]:
    """The locals that a message names and that an operator can take, with their annotations, as it names them."""
    state, view = flow.before.get(statement), flow.context.view
    if state is None:
        return {}
    names = [part for part in ast.walk(statement) if isinstance(part, ast.Name)]
    held = dict.fromkeys(n.id for n in names if not isinstance(view.names.lookup(n.id, n)[0], ast.Module))
    found = {name: _annotation(view, statement, name, state.values.get(name)) for name in held}
    return {name: annotation for name, annotation in found.items() if annotation}


def _annotation(view: FileView, statement: ast.Expr, name: str, value: Value | None) -> str:
    """The type of an integer, or of what was a text or None in a run; empty for anything else."""
    if value is not None and _is_integer(value):
        return "int"
    seen = view.observed(statement.lineno)
    if seen is None or name not in seen.names():
        return ""
    kinds = {one.values[name].kind for one in seen.observations}
    return ("str | None" if "none" in kinds else "str") if kinds <= {"str", "none"} else ""


def _is_integer(value: Value) -> bool:
    known = value.kind is Kind.NUMBER and value.number == "int"
    return known and value.scalar_of is None and not value.assumed


def _check_name(view: FileView, name: ast.Name) -> None:
    """What the message names must be what the module means by it, then as well as now."""
    if view.names.is_builtin(name, name.id):
        return
    scope, bindings = view.names.lookup(name.id, name)
    top = view.source.tree
    if not isinstance(scope, ast.Module):
        raise RefusedError(FIXED, f"{name.id} is a name of the function", name.lineno, ADVICE)
    if not bindings or any(view.source.enclosing_function(one.statement) is not None for one in bindings):
        raise RefusedError(FIXED, f"{name.id} may change", name.lineno, ADVICE)
    if any(view.source.parents[one.statement] is not top for one in bindings) and view.names.qualified(name) is None:
        raise RefusedError(FIXED, f"{name.id} may change", name.lineno, ADVICE)
    if len(bindings) > 1 and view.names.qualified(name) is None:
        raise RefusedError(FIXED, f"{name.id} is set in several places", name.lineno, ADVICE)


# -- the edit -----------------------------------------------------------------------------------


def _fix(flow: Flow, statements: Sequence[ast.Expr], shown: Sequence[Mapping[str, str]]) -> Fix:
    view, source = flow.context.view, flow.context.source
    holder = top_level_statement(source, statements[0])
    torch, missing = torch_name(view, holder)
    known = maker_of(source.tree)
    place = place_of_functions(view, holder, torch, missing)
    taken = all_names(source.tree) | set(view.names.local_bindings(source.tree))
    taken |= {node.name for node in source.nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    maker = known or unused_name(MAKER, frozenset(taken))
    taken.add(maker)
    parts = [] if known else [maker_source(maker, torch)]
    replacements = []
    for statement, names in zip(statements, shown, strict=True):
        name = unused_name(f"_report_{flow.context.function.name.strip('_')}", frozenset(taken))
        taken.add(name)
        said = reindented(reindented(source.segment(statement), indentation_of(source, statement), ""), "", "    ")
        parameters = ", ".join(f"{shown}: {annotation}" for shown, annotation in names.items())
        parts.append(f"@{maker}\ndef {name}({parameters}) -> None:\n{said}")
        replacements.append(Replacement(source.span(statement), f"{name}({', '.join(names)})"))
    added = in_style_of(source, "\n\n\n".join(parts))
    insertion = Replacement(source.span(place), f"{source.segment(place)}\n\n\n{added}")
    changes = tuple(sorted([insertion, *replacements], key=lambda one: one.span))
    return Fix("say it from within the graph", changes, ("torch",) if missing else ())


def place_of_functions(view: FileView, holder: ast.stmt, torch: str, missing: bool) -> ast.stmt:
    """The statement of the module behind which new functions go, the same for all of one pass.

    holder: the top-level statement that will call them. Raises RefusedError where PyTorch is not known above.
    """
    block = view.source.tree.body
    spoken = [node for node in block if is_maker(node) or said_in_graph(view, node)]
    if spoken:
        return spoken[-1]
    definitions_ = ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef
    first = next(place for place, node in enumerate(block) if isinstance(node, definitions_))
    simple = ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign
    places = [place for place, node in enumerate(block[:first]) if isinstance(node, simple)]
    bound = [one.statement for one in view.names.bindings(torch, block[first])]
    if not places or not (missing or any(node in block[: places[-1] + 1] for node in bound)):
        reason = f"{torch} is not imported in the module's own block, above its first function or class"
        raise RefusedError(FIXED, reason, holder.lineno, ADVICE)
    return block[places[-1]]
