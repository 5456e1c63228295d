"""Puts messages into a function of their own that is not compiled, where the program chose that their break stays."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.flow import Flow
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import Function
from gbfix.codemods._edges import ADVICE, Edges
from gbfix.codemods._messages import MessageKind, message_of
from gbfix.codemods._outside import Plan
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._report_units import Unit
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import indentation_of, reindented, unused_name
from gbfix.codemods._tree import all_names, is_elif
from gbfix.engine.model import Discharge, Fix, Obligation, Replacement

MOVES = "the messages can be said by another function"
NO_FULLGRAPH = "no caller compiles with fullgraph=True"
CALLER = "nobody reads the name of the function that says a message"
_ASKS_FOR_ITS_PLACE = frozenset(
    {"super", "__class__", "locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "stack"}
    | {"is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling"}
)
_HOLDERS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_STEPS = ast.Yield | ast.YieldFrom | ast.Await | ast.AsyncFor | ast.AsyncWith


def own_function(flow: Flow, compiled: CompiledFunction, unit: Unit, reason: str) -> Plan:
    """The message, with those beside it, in a new function under torch.compiler.disable above its outermost holder.

    reason: the arguments of the decorator, with parentheses. Raises RefusedError.
    """
    view, source = flow.context.view, flow.context.source
    group = _beside(flow, unit)
    statements = [one.statement for one in group]
    _check(flow, compiled, group)
    names = _names(flow, statements)
    holders = [node for node in source.ancestors(unit.statement) if isinstance(node, _HOLDERS)]
    outermost = holders[-1]
    torch, missing = torch_name(view, outermost)
    line = unit.statement.lineno
    if not missing and any(one.statement.lineno > outermost.lineno for one in view.names.bindings(torch, outermost)):  # type: ignore[attr-defined]
        raise RefusedError(MOVES, f"{torch} is imported below", line, ADVICE)
    taken = all_names(source.tree) | set(view.names.local_bindings(source.tree))
    taken |= {node.name for node in source.nodes if isinstance(node, _HOLDERS)}
    name = unused_name(f"_report_{flow.context.function.name.strip('_')}", frozenset(taken))
    start, end = source.span(statements[0]), source.span(statements[-1])
    call = f"{name}({', '.join(names)})"
    first, *rest = source.lines[start.line - 1 : end.end_line]
    rest = rest or [first]
    if start.line == end.end_line:
        said = first[start.column : end.end_column]
    else:
        said = "\n".join([first[start.column :], *rest[:-1], rest[-1][: end.end_column]])
    body = reindented(reindented(said, indentation_of(source, statements[0]), ""), "", "    ")
    place = source.span(outermost)
    whole = [
        *source.lines[place.line - 1 : start.line - 1],
        first[: start.column] + call + source.lines[end.end_line - 1][end.end_column :],
        *source.lines[end.end_line : place.end_line],
    ]
    kept = reindented("\n".join([whole[0][place.column :], *whole[1:]]), indentation_of(source, outermost), "")
    helper = f"@{torch}.compiler.disable{reason}\ndef {call}:\n{body}"
    fix = Fix(
        f"say it in {name}, which is not compiled",
        (Replacement(place, f"{helper}\n\n\n{kept}"),),
        ("torch",) if missing else (),
    )
    return Plan(fix, tuple(_obligations(flow, compiled, group)), tuple(group))


def _beside(flow: Flow, unit: Unit) -> list[Unit]:
    """The message and those directly before and after it, without calls of functions that report."""
    units = {one.statement: one for one in Edges(flow).units if not one.helpers}
    parent = flow.context.source.parents[unit.statement]
    blocks = [value for _, value in ast.iter_fields(parent) if isinstance(value, list) and unit.statement in value]
    block = blocks[0]
    first = last = block.index(unit.statement)
    while first > 0 and block[first - 1] in units:
        first -= 1
    while last + 1 < len(block) and block[last + 1] in units:
        last += 1
    return [units[statement] for statement in block[first : last + 1]]


def _check(flow: Flow, compiled: CompiledFunction, group: Sequence[Unit]) -> None:
    view = flow.context.view
    line = group[0].statement.lineno
    if any(one.fullgraph and one.function.node is compiled.function.node for one in view.compiled):
        raise RefusedError(
            NO_FULLGRAPH, "fullgraph=True allows no call of a function that is not compiled", line, ADVICE
        )
    if is_elif(flow.context.source, group[0].statement):
        raise RefusedError(MOVES, "it is an `elif`", line, ADVICE)
    if any(isinstance(parent, ast.Lambda) for parent in flow.context.source.ancestors(group[0].statement)):
        raise RefusedError(MOVES, "it stands in a lambda", line, ADVICE)
    for part in (part for unit in group for part in ast.walk(unit.statement)):
        asked = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
        if asked in _ASKS_FOR_ITS_PLACE:
            raise RefusedError(MOVES, f"{asked} depends on the function that asks", line, ADVICE)
        if asked.startswith("__") and not asked.endswith("__"):
            raise RefusedError(MOVES, f"{asked} has another name outside its class", line, ADVICE)
        if isinstance(part, ast.NamedExpr):
            raise RefusedError(MOVES, f"it gives {part.target.id} a value", line, ADVICE)
        if isinstance(part, _STEPS):
            raise RefusedError(MOVES, "it waits for others", line, ADVICE)
        if isinstance(part, ast.Call) and _chooses_its_caller(flow, part):
            raise RefusedError(MOVES, "it counts the functions that call it", part.lineno, ADVICE)


def _chooses_its_caller(flow: Flow, call: ast.Call) -> bool:
    message = message_of(flow.context.view, call)
    if any(one.arg in ("stacklevel", "stack_info", "skip_file_prefixes") for one in call.keywords):
        return True
    if message is None or message.kind is MessageKind.PRINT:
        return False
    return message.starred or (message.kind is MessageKind.WARNING and len(call.args) > 2)


def _names(flow: Flow, statements: Sequence[ast.stmt]) -> list[str]:
    """The names of the function that the statements read, in the order of their first reading. Raises RefusedError."""
    names, own = flow.context.view.names, flow.context.function.node
    bound = flow.before[statements[0]].values
    inside = {part for statement in statements for part in ast.walk(statement)}
    found: list[str] = []
    for part in (part for statement in statements for part in ast.walk(statement)):
        if not isinstance(part, ast.Name) or part.id in found:
            continue
        scope, _ = names.lookup(part.id, part)
        if isinstance(scope, ast.Module) or scope in inside:
            continue
        if scope is not own:
            raise RefusedError(MOVES, f"{part.id} belongs to a function around it", part.lineno, ADVICE)
        if part.id not in bound:
            raise RefusedError(MOVES, f"{part.id} may have no value there", part.lineno, ADVICE)
        found.append(part.id)
    return found


def _obligations(flow: Flow, compiled: CompiledFunction, group: Sequence[Unit]) -> Iterator[Obligation]:
    line = group[0].statement.lineno
    function: Function = compiled.function
    yield Obligation(MOVES, Discharge.PROVED, "it reads only names that are handed over, and globals", line)
    if compiled.fullgraph is False or not isinstance(group[0].statement, ast.If):
        reason = "the message does not allow it either"
        yield Obligation(NO_FULLGRAPH, Discharge.PROVED, reason, line)
    else:
        reason = f"where {function.name} says nothing, the call would be an error"
        yield Obligation(NO_FULLGRAPH, Discharge.ASSUMED, reason, line)
    for call in (call for unit in group for call in unit.messages):
        message = message_of(flow.context.view, call)
        if message is None or message.kind not in (MessageKind.PRINT, MessageKind.WRITE):
            yield Obligation(
                CALLER, Discharge.ASSUMED, "function and line of the record are those of the new function", line
            )
            return
