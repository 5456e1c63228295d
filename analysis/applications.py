"""Calling a value: arguments flow into parameters, results flow back, library functions take effect."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from gbfix.analysis.callables import (
    ENDED,
    PROPERTY,
    SKIPPED,
    Arguments,
    BoundValue,
    ClassValue,
    CompilingValue,
    FillingValue,
    Frame,
    FunctionValue,
    GivingValue,
    InstanceValue,
    LibraryValue,
    PartialValue,
    Star,
    Value,
    WrappedValue,
)
from gbfix.analysis.library import OPTIMIZER, Effect, LibraryFunction, library_function
from gbfix.analysis.places import Place
from gbfix.analysis.slots import Slot
from gbfix.analysis.source import FunctionNode
from gbfix.engine.dataclass import dataclass

if TYPE_CHECKING:
    from gbfix.analysis.calls import Calls

_LARGEST_NESTING = 4  # of partial objects in partial objects: `f = partial(f, x)` has no end


@dataclass(frozen=True, eq=False)
class Application:
    """A callable being called: by a call, or as a decorator."""

    site: ast.expr | None
    frame: Frame | None
    callee: Slot[Value]
    arguments: Arguments
    result: Slot[Value]
    is_decorator: bool = False
    is_covered: bool = False
    """True for a decorator under one that keeps Dynamo out."""
    called: set[Value] = field(default_factory=set)
    """The objects that were called here, for one that ends up calling itself."""


@dataclass(frozen=True, eq=False)
class Compilation:
    """A place that compiles the values of `target`."""

    application: Application
    target: Slot[Value]
    is_optimize: bool = False
    """True for `torch._dynamo.optimize`, whose options have other names."""
    in_place: bool = False
    """True for `module.compile()`, which compiles `forward` only."""


class Applications:
    """Applies callables to arguments."""

    def __init__(self, calls: Calls, on_compilation: Callable[[Compilation], None]) -> None:
        self._calls = calls
        self._flow = calls.flow
        self._on_compilation = on_compilation

    def arguments(self, node: ast.Call, frame: Frame) -> Arguments:
        """The arguments of a call as slots."""
        found = Arguments()
        for argument in node.args:
            is_starred = isinstance(argument, ast.Starred)
            found.positional.append(self._star(argument, frame) if is_starred else self._calls.slot(argument, frame))
            found.positional_expressions.append(argument)
        for keyword in node.keywords:
            if keyword.arg is not None:
                found.keywords[keyword.arg] = self._calls.slot(keyword.value, frame)
                found.expressions[keyword.arg] = keyword.value
        return found

    def call_without_arguments(self, value: Value, result: Slot[Value]) -> None:
        """Let the result of calling a property or iterator flow on."""
        self.apply(value, Application(None, None, Slot(), Arguments(), result))

    def apply(self, value: Value, application: Application) -> None:
        """Let arguments flow into what is called, and its result back."""
        flow, result = self._flow, application.result
        if isinstance(value, FunctionValue):
            self._enter(self._calls.frames.called(value, None, application.site), application, 0)
        elif isinstance(value, BoundValue):
            frame = self._calls.frames.called(value.function, value.receiver.info, application.site)
            self._give(frame, 0, value.receiver)
            self._enter(frame, application, 1)
        elif isinstance(value, ClassValue):
            flow.add(result, InstanceValue(value.info))
            self._calls.attributes.construct(value.info, replace(application, result=Slot()))
        elif isinstance(value, InstanceValue) and value not in application.called:
            application.called.add(value)
            for method in self._calls.attributes.called_methods(value):
                flow.watch(method, lambda found: self.apply(found, application))
        elif isinstance(value, LibraryValue):
            self._apply_library(value, application)
        elif isinstance(value, PartialValue):
            arguments = value.arguments.then(application.arguments)
            self.apply(value.target, replace(application, arguments=arguments))
        elif isinstance(value, WrappedValue):
            self._apply_wrapped(value, application)
        elif isinstance(value, GivingValue):
            flow.add(result, value.target)
        elif isinstance(value, FillingValue):
            for slot in application.arguments.slots():
                flow.link(self._calls.elements(slot), self._calls.attributes.contents(value.info))
        elif isinstance(value, CompilingValue):
            target: Slot[Value] = Slot()
            flow.add(target, value.target)
            self._on_compilation(Compilation(application, target, in_place=True))

    def wrap(self, kind: str, result: Slot[Value], value: Value) -> None:
        """Let a value flow on as changed by a decorator."""
        is_wrapped_so = isinstance(value, WrappedValue) and value.kind == kind
        if is_wrapped_so or _nesting(value) < _LARGEST_NESTING:
            self._flow.add(result, value if is_wrapped_so else WrappedValue(value, kind))

    def _star(self, argument: ast.expr, frame: Frame) -> Star | None:
        value = argument.value if isinstance(argument, ast.Starred) else argument
        slot = self._calls.slot(value, frame)
        if slot is None:
            return None
        if isinstance(value, ast.Name):
            scope = self._calls.project.names_of(frame.path).lookup(value.id, value)[0]
            if isinstance(scope, FunctionNode) and scope.args.vararg and scope.args.vararg.arg == value.id:
                around = self._calls.frames.around(frame, scope)
                return Star(self._extra(around, 0), self._extra(around, 1))
        elements = self._calls.elements(slot)
        return Star(elements, elements)

    def _extra(self, frame: Frame, index: int) -> Slot[Value]:
        """What lands in `*args`: the first element, or the others."""
        key = ("*", index)
        if key not in frame.slots:
            frame.slots[key] = Slot()
            vararg = None if isinstance(frame.holder, ast.Module) else frame.holder.args.vararg
            if vararg is not None:
                self._flow.link(frame.slots[key], self._parameter(vararg, frame))
        return frame.slots[key]

    def _parameter(self, parameter: ast.arg, frame: Frame) -> Slot[Value]:
        names = self._calls.project.names_of(frame.path)
        scope = frame.holder
        bindings = names.local_bindings(scope).get(parameter.arg, [])
        return self._calls.variable(frame.path, scope, parameter.arg, bindings, frame)

    def _apply_wrapped(self, value: WrappedValue, application: Application) -> None:
        if isinstance(value.target, ClassValue):
            made: Slot[Value] = Slot()
            self.apply(value.target, replace(application, result=made))
            self._flow.depend(made, application.result)
            self._flow.watch(made, partial(self.wrap, value.kind, application.result))
        else:
            self.apply(value.target, application)

    def _enter(self, frame: Frame, application: Application, offset: int) -> None:
        self._pass(application.arguments, frame, offset)
        self._flow.link(self.returned(frame), application.result)

    def _pass(self, arguments: Arguments, frame: Frame, offset: int) -> None:
        if isinstance(frame.holder, ast.Module):
            return
        taken = frame.holder.args
        positional = [*taken.posonlyargs, *taken.args]
        for index, slot in enumerate(arguments.positional, offset):
            if isinstance(slot, Star):
                self._pass_star(slot, index, frame, positional)
            elif slot is not None and index < len(positional):
                self._flow.link(slot, self._parameter(positional[index], frame))
            elif slot is not None and taken.vararg:
                self._flow.link(slot, self._extra(frame, min(index - len(positional), 1)))
        by_name = {parameter.arg: parameter for parameter in [*taken.args, *taken.kwonlyargs]}
        for name, slot in arguments.keywords.items():
            parameter = by_name.get(name, taken.kwarg)
            if parameter is not None and slot is not None:
                self._flow.link(slot, self._parameter(parameter, frame))

    def _pass_star(self, star: Star, index: int, frame: Frame, positional: list[ast.arg]) -> None:
        for place, parameter in enumerate(positional[index:]):
            self._flow.link(star.first if place == 0 else star.rest, self._parameter(parameter, frame))
        if not isinstance(frame.holder, ast.Module) and frame.holder.args.vararg:
            self._flow.link(star.first if index >= len(positional) else star.rest, self._extra(frame, 0))
            self._flow.link(star.rest, self._extra(frame, 1))

    def _give(self, frame: Frame, index: int, value: Value) -> None:
        if isinstance(frame.holder, ast.Module):
            return
        positional = [*frame.holder.args.posonlyargs, *frame.holder.args.args]
        if index < len(positional):
            self._flow.add(self._parameter(positional[index], frame), value)
        elif frame.holder.args.vararg:
            self._flow.add(self._extra(frame, 0), value)

    def returned(self, frame: Frame) -> Slot[Value]:
        """What a frame returns."""
        key = ("return",)
        if key not in frame.slots:
            frame.slots[key] = Slot()
            self._calls.places.watch(frame.slots[key], Place(frame.path, "", function=frame.function))
            self._flow.later(partial(self._expand_returned, frame, frame.slots[key]))
        return frame.slots[key]

    def _expand_returned(self, frame: Frame, slot: Slot[Value]) -> None:
        if isinstance(frame.holder, ast.FunctionDef | ast.AsyncFunctionDef):
            self._calls.put_annotated(frame.path, frame.holder.returns, slot)
        for value in self._calls.outlines[frame.path].actions_of(frame.holder).returned:
            self._flow.link(self._calls.slot(value, frame), slot)

    def _apply_library(self, value: LibraryValue, application: Application) -> None:
        known, arguments, result = library_function(value.name), application.arguments, application.result
        if known is None:
            if application.is_decorator:
                self._flow.link(_argument(arguments, 0, ""), result)
        elif known.effect is Effect.OPTIMIZE:
            self._flow.add(result, PartialValue(LibraryValue(OPTIMIZER), arguments))
        elif known.effect is Effect.HAND_ON:
            for slot in arguments.slots():
                self._flow.link(slot, result)
        elif not _has_argument(arguments, known):
            if arguments.merged < _LARGEST_NESTING:
                self._flow.add(result, PartialValue(value, arguments))
        else:
            target = _argument(arguments, known.position, known.keyword)
            if target is not None:
                self._apply_effect(value, known, target, application)

    def _apply_effect(
        self, value: LibraryValue, known: LibraryFunction, target: Slot[Value], application: Application
    ) -> None:
        arguments, result = application.arguments, application.result
        if known.effect is Effect.COMPILE:
            self._flow.link(target, result)
            self._on_compilation(Compilation(application, target, is_optimize=value.name == OPTIMIZER))
        elif known.effect is Effect.PARTIAL:
            bound = replace(arguments, positional=arguments.positional[1:])
            self._flow.depend(target, result)
            self._flow.watch(target, lambda found: self._bind_partial(found, bound, result))
        elif known.effect is Effect.PROPERTY:
            self._flow.depend(target, result)
            self._flow.watch(target, partial(self.wrap, PROPERTY, result))
        else:
            self._flow.depend(target, result)
            kind = SKIPPED if known.effect is Effect.SKIP or _is_false(arguments, "recursive", 1) else ENDED
            self._flow.watch(target, partial(self.wrap, kind, result))

    def _bind_partial(self, value: Value, arguments: Arguments, result: Slot[Value]) -> None:
        if _nesting(value) < _LARGEST_NESTING:
            self._flow.add(result, PartialValue(value, arguments))


def _has_argument(arguments: Arguments, function: LibraryFunction) -> bool:
    is_positional = function.position < len(arguments.positional)
    return (is_positional and bool(arguments.positional)) or function.keyword in arguments.keywords


def _argument(arguments: Arguments, position: int, keyword: str) -> Slot[Value] | None:
    if keyword in arguments.keywords:
        return arguments.keywords[keyword]
    found = arguments.positional[position] if position < len(arguments.positional) else None
    return found.first if isinstance(found, Star) else found


def _is_false(arguments: Arguments, keyword: str, position: int) -> bool:
    expression = arguments.expressions.get(keyword)
    if expression is None and position < len(arguments.positional_expressions):
        expression = arguments.positional_expressions[position]
    return isinstance(expression, ast.Constant) and expression.value is False


def _nesting(value: Value) -> int:
    depth = 0
    while isinstance(value, PartialValue | WrappedValue):
        value = value.target
        depth += 1
    return depth
