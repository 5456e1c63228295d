"""What it relies on that a graph says a message, and how each part is met."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.names import Names
from gbfix.analysis.project import FileView
from gbfix.codemods._definitions import Definition, definitions
from gbfix.codemods._messages import Message, MessageKind
from gbfix.codemods._obligations import shorten
from gbfix.codemods._outside import NO_ERROR
from gbfix.codemods._report_functions import CALLER
from gbfix.engine.model import Discharge, Obligation

SAME = "the text, its place and its number of times are the same"
RECOMPUTED = "no checkpoint runs it a second time"
FILTERS = "the same filters decide about the warning"
_FILTERS = frozenset(f"warnings.{name}" for name in ("catch_warnings", "filters", "simplefilter", "filterwarnings"))


def obligations_of(view: FileView, messages: Sequence[Message]) -> Iterator[Obligation]:
    """What it relies on that operators say the messages."""
    line = messages[0].call.lineno
    yield Obligation(SAME, Discharge.PROVED, "the graph says it between the operations around it", line)
    yield from _error_obligation(view, messages)
    yield from _filter_obligation(view, messages)
    yield _caller_obligation(view, messages)
    yield _checkpoint_obligation(view, messages)


def _error_obligation(view: FileView, messages: Sequence[Message]) -> Iterator[Obligation]:
    """A warning that a filter turns into an error comes out of the graph, without what Python did before it."""
    warnings = [message for message in messages if message.kind is MessageKind.WARNING]
    if not warnings:
        return
    line = warnings[0].call.lineno
    seen = [view.observed(message.call.lineno) for message in warnings]
    if all(one is not None and one.resumed for one in seen):
        told = next(one.told for one in seen if one is not None)
        yield Obligation(NO_ERROR, Discharge.OBSERVED, f"the program went on behind it, {told}", line)
    else:
        reason = "what the compiled code did in Python before it would be lost"
        yield Obligation(NO_ERROR, Discharge.ASSUMED, reason, line)


def _filter_obligation(view: FileView, messages: Sequence[Message]) -> Iterator[Obligation]:
    """Dynamo sets the filters of warnings when the graph has run; levels and the like of loggers end the graph."""
    warnings = [message for message in messages if message.kind is MessageKind.WARNING]
    if not warnings:
        return
    line = warnings[0].call.lineno
    for path, functions in sorted(view.project.compiled.items()):
        names = view.project.names_of(path)
        for part in (part for compiled in functions for part in ast.walk(compiled.function.node)):
            if isinstance(part, ast.Name | ast.Attribute) and names.qualified(part) in _FILTERS:
                reason = f"{path}:{part.lineno} sets others, which the graph may not know yet"
                yield Obligation(FILTERS, Discharge.ASSUMED, reason, line)
                return
    # Python forgets what it has shown whenever filters change, also for a moment, as PyTorch does while it compiles.
    reason = "filters that PyTorch sets while it compiles may have it shown again"
    yield Obligation(FILTERS, Discharge.ASSUMED, reason, line)


def _caller_obligation(view: FileView, messages: Sequence[Message]) -> Obligation:
    line = messages[0].call.lineno
    for message in messages:
        if message.kind is MessageKind.LOGGING:
            reason = "function and line of the record are those of the new function"
            return Obligation(CALLER, Discharge.ASSUMED, reason, message.call.lineno)
        if message.kind is MessageKind.WRAPPER and any(map(_asks_for_caller, _wrappers(view, message.call.func))):
            reason = f"{shorten(view.source.segment(message.call.func))} asks who calls it"
            return Obligation(CALLER, Discharge.ASSUMED, reason, message.call.lineno)
    if messages[0].kind is MessageKind.WARNING:
        return Obligation(CALLER, Discharge.PROVED, "a warning names the file and the module, which stay", line)
    reason = f"the record names {shorten(view.source.segment(messages[0].call.func))} itself, which calls the logger"
    return Obligation(CALLER, Discharge.PROVED, reason, line)


def _wrappers(view: FileView, func: ast.expr) -> Iterator[Definition]:
    """The functions of the given files that a message may run: by its name, or put on loggers under it."""
    yield from definitions(view, func)
    if not isinstance(func, ast.Attribute):
        return
    for path, source in view.project.files.naming(func.attr):
        other = view.project.view(path) if path != view.source.path else view
        for node in source.nodes:
            match node:
                case ast.Assign(targets=[ast.Attribute(attr=attr)], value=ast.Name() as value) if attr == func.attr:
                    yield from definitions(other, value)
                case ast.FunctionDef(name=name) if name == func.attr:
                    yield Definition(other, node)


def _asks_for_caller(definition: Definition) -> bool:
    if definition.node is None:
        return False
    words = ("stacklevel", "_getframe", "currentframe", "stack", "findCaller")
    asked = {
        getattr(part, field, None) for part in ast.walk(definition.node) for field in ("id", "attr", "arg", "value")
    }
    return any(word in asked for word in words)


def _checkpoint_obligation(view: FileView, messages: Sequence[Message]) -> Obligation:
    """A graph that is computed again for its gradients does not speak again, Python would."""
    line = messages[0].call.lineno
    if all(message.kind is MessageKind.WRAPPER for message in messages):
        reason = f"{shorten(view.source.segment(messages[0].call.func))} says a text once only"
        return Obligation(RECOMPUTED, Discharge.PROVED, reason, line)
    for path, functions in sorted(view.project.compiled.items()):
        names = view.project.names_of(path)
        for part in (part for compiled in functions for part in ast.walk(compiled.function.node)):
            if isinstance(part, ast.Call) and _is_checkpoint(names, part.func):
                reason = f"{path}:{part.lineno} may be one, where Python says it again for the gradients"
                return Obligation(RECOMPUTED, Discharge.ASSUMED, reason, line)
    return Obligation(RECOMPUTED, Discharge.PROVED, "no compiled function of the given files calls one", line)


def _is_checkpoint(names: Names, func: ast.expr) -> bool:
    """True for what is, or is called after, torch.utils.checkpoint."""
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return "checkpoint" in (names.qualified(func) or name)
