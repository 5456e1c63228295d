"""The functions that run compiled: entries, and what Dynamo traces into from them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from gbfix.analysis.applications import Compilation
from gbfix.analysis.callables import (
    ENDED,
    SKIPPED,
    AutogradValue,
    BoundValue,
    ClassValue,
    Frame,
    FunctionValue,
    InstanceValue,
    LibraryValue,
    PartialValue,
    Value,
    WrappedValue,
)
from gbfix.analysis.calls import Calls
from gbfix.analysis.classes import ClassInfo, ModuleKind
from gbfix.analysis.demand import Demand
from gbfix.analysis.library import CALLING_BUILTINS, Effect, library_function
from gbfix.analysis.names import Names
from gbfix.analysis.outline import Holder
from gbfix.analysis.slots import Slot, TooManyStepsError
from gbfix.analysis.source import Function
from gbfix.engine.dataclass import dataclass

if TYPE_CHECKING:
    from gbfix.analysis.project import Project

_ENTERING = ("__enter__", "__exit__")
_ITERATING = ("__iter__", "__next__", "__getitem__")
_CONSTRUCTING = ("__new__", "__init__", "__post_init__")
STEPS = 100_000
"""How much is followed: about a second. Among library code, values can reach everything."""
LONGEST = 3_000_000
"""The same where a run shows what is compiled, or every module is looked at: some seconds."""
STEPS_AT_THE_END = 20_000
"""How much is followed once the search is cut off, in the files that are read."""
ROOM = 1_000_000
"""How many characters of source are parsed beyond the files that compile: some 50 large files, or 200 small ones."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A reason for functions to be compiled: a place that compiles, or a class taken for a module."""

    path: str
    compilation: Compilation | None = None
    assumed: ClassInfo | None = None
    is_module: bool = True
    """False for an assumed class that only may be a torch.nn.Module."""


@dataclass(frozen=True, eq=False)
class Origin:
    """From where a function is reached: an entry, or a line of a function that is traced."""

    entry: Entry | None = None
    caller: Function | None = None
    line: int = 0
    site: ast.AST | None = None
    shows: bool = True
    """False when the frame reached is itself not traced, only what it calls."""
    objects: set[Value] = field(default_factory=set)
    """The objects called from here, for one that ends up calling itself."""


@dataclass(eq=False)
class Reached:
    """How a function was reached."""

    path: str
    function: Function
    shows: bool = False
    entries: list[Entry] = field(default_factory=list)
    callers: dict[Function, int] = field(default_factory=dict)
    """The functions that call it, with the first line that does."""


class Reach:
    """Finds what runs compiled in a project."""

    def __init__(self, project: Project) -> None:
        self.found: dict[Function, Reached] = {}
        self._traced: set[Frame] = set()
        self._compiles = False
        self._compiled: set[tuple[Function, Frame | None]] = set()
        self._frames: dict[tuple[Function, Frame | None], list[Frame]] = {}
        self._running: set[Holder] = set()
        self._frames_of: dict[Holder, list[Frame]] = {}
        self._demand = Demand()
        is_observed = bool(project.observed)
        is_short = not (is_observed or project.assume_compiled)
        steps, room = (STEPS, ROOM) if is_short else (LONGEST, None)
        self._calls = Calls(project, self._demand, self._compile, self._start, steps, room)
        self._flow = self._calls.flow
        self.is_cut_off = False
        """True when the search ended before all was found."""
        self._demand.start(self._calls)
        try:
            self._search(project)
        except TooManyStepsError:
            if is_observed:
                raise
            self._cut_off()

    def _search(self, project: Project) -> None:
        paths = list(self._calls.spotted.compiling())
        outlines = {path: self._calls.outlines[path] for path in paths}
        self._calls.outlines.start_counting()
        project.files.on_parsed = self._check_room
        roots = [path for path, outline in outlines.items() if outline.mentions_compile]
        self._compiles = bool(roots)
        for path in roots:
            for holder in list(outlines[path].actions):
                self._follow(path, holder)
        if project.assume_compiled:
            self._assume_modules()
        while True:
            self._flow.run()
            if not self._demand.is_done():
                for path, holder in self._demand.next_holders():
                    self._follow(path, holder)
            elif not self._calls.answer():
                project.files.on_parsed = lambda: None
                return

    def _check_room(self) -> None:
        if not self._calls.outlines.has_room:
            self._flow.allow(0)

    def _cut_off(self) -> None:
        """End with what is near: decorators of which nothing is known by now give back what they decorate."""
        self.is_cut_off = True
        self._flow.forget()
        self._calls.answer()
        self._flow.allow(STEPS_AT_THE_END)
        with suppress(TooManyStepsError):
            self._flow.run()
        self._calls.project.files.on_parsed = lambda: None

    def _follow(self, path: str, holder: Holder) -> None:
        """Follow what a function or module does that may be called from anywhere, and may compile another."""
        if self._compiles and holder not in self._running:
            self._running.add(holder)
            self._calls.frames.default(path, holder)
            for frame in self._frames_of[holder]:
                self._flow.later(partial(self._run, frame))
            self._flow.later(partial(self._carry, self._calls.frames.default(path, holder)))

    def _assume_modules(self) -> None:
        for path in sorted(self._calls.project.files):
            for node in self._calls.outlines[path].classes:
                info = self._calls.classes.info(path, node)
                kind = self._calls.classes.kind(info)
                if self._may_be_module(info):
                    forward = self._calls.attributes.of(InstanceValue(info), "forward")
                    origin = Origin(entry=Entry(path, assumed=info, is_module=kind is ModuleKind.MODULE))
                    self._reach_all(forward, origin)

    def _may_be_module(self, info: ClassInfo) -> bool:
        kind = self._calls.classes.kind(info)
        if kind is ModuleKind.UNKNOWN:
            return self._calls.attributes.defines(info, "forward")
        return kind is ModuleKind.MODULE

    def _start(self, frame: Frame) -> None:
        if frame.function is not None:
            same = (frame.function, frame.outer)
            self._frames.setdefault(same, []).append(frame)
            if same in self._compiled:
                self._trace(frame)
        self._frames_of.setdefault(frame.holder, []).append(frame)
        if frame.holder in self._running:
            self._flow.later(partial(self._run, frame))

    def _run(self, frame: Frame) -> None:
        """Follow the calls of a frame that need not be compiled: they may compile, and they give arguments."""
        actions = self._calls.outlines[frame.path].actions_of(frame.holder)
        for call in actions.calls:
            self._calls.slot(call, frame)
        for node in actions.decorated:
            self._calls.definition(node, frame)
        for target, value in actions.stores:
            base, stored = self._calls.slot(target.value, frame), self._calls.slot(value, frame)
            if base is not None and stored is not None:
                self._flow.watch(base, partial(self._store, target.attr, stored))

    def _carry(self, frame: Frame) -> None:
        """Follow what a frame names, stores and returns: a callable that matters may go by that name too."""
        outline = self._calls.outlines[frame.path]
        for name, bindings in self._calls.project.names_of(frame.path).local_bindings(frame.holder).items():
            if any(binding.node in outline.assigned for binding in bindings):
                self._calls.variable(frame.path, frame.holder, name, bindings, frame)
        if outline.actions_of(frame.holder).returned:
            self._calls.applications.returned(frame)
        receiver = self._calls.frames.receiver(frame)
        for attribute in outline.storing_in_self.get(frame.holder, ()):
            if receiver is not None:
                self._calls.attributes.of(receiver, attribute)

    def _store(self, name: str, stored: Slot[Value], base: Value) -> None:
        if isinstance(base, InstanceValue):
            self._flow.link(stored, self._calls.attributes.outside(base.info, name))

    def _compile(self, compilation: Compilation) -> None:
        application = compilation.application
        if application.frame is None or application.is_covered:
            return
        origin = Origin(entry=Entry(application.frame.path, compilation))
        self._flow.want(compilation.target)
        self._flow.watch(compilation.target, partial(self._reach_entry, origin, compilation.in_place))

    def _reach_entry(self, origin: Origin, in_place: bool, value: Value) -> None:
        if isinstance(value, InstanceValue) and in_place:
            self._reach_all(self._calls.attributes.called_methods(value)[-1], origin)
        else:
            self._reach(origin, value)

    def _reach_all(self, slot: Slot[Value], origin: Origin) -> None:
        self._flow.want(slot)
        self._flow.watch(slot, partial(self._reach, origin))

    def _reach(self, origin: Origin, value: Value) -> None:
        """Trace what calling a value runs."""
        attributes = self._calls.attributes
        site = None if origin.entry else origin.site
        if isinstance(value, FunctionValue):
            self._enter(self._calls.frames.called(value, None, site), origin)
            if origin.entry:
                self._trace_every_frame(value.function, value.outer)
        elif isinstance(value, BoundValue):
            self._enter(self._calls.frames.called(value.function, value.receiver.info, site), origin)
        elif isinstance(value, InstanceValue) and value not in origin.objects:
            origin.objects.add(value)
            for method in attributes.called_methods(value):
                self._reach_all(method, origin)
        elif isinstance(value, ClassValue) and origin.entry:
            self._reach(origin, InstanceValue(value.info))
        elif isinstance(value, ClassValue):
            self._reach_methods(InstanceValue(value.info), _CONSTRUCTING, origin)
        elif isinstance(value, AutogradValue):
            for step in attributes.autograd_steps(value.info):
                self._reach_all(step, origin)
        elif isinstance(value, PartialValue):
            self._reach(origin, value.target)
        elif isinstance(value, WrappedValue):
            if value.kind == SKIPPED and not origin.entry:
                self._reach(replace(origin, shows=False), value.target)
            elif value.kind != ENDED or origin.entry:
                self._reach(origin, value.target)

    def _reach_methods(self, value: InstanceValue, names: tuple[str, ...], origin: Origin) -> None:
        for name in names:
            if self._calls.attributes.defines(value.info, name):
                self._reach_all(self._calls.attributes.of(value, name), origin)

    def _enter(self, frame: Frame, origin: Origin) -> None:
        function = frame.function
        if function is None:
            return
        reached = self.found.setdefault(function, Reached(frame.path, function))
        reached.shows = reached.shows or origin.shows
        if origin.entry is not None:
            reached.entries.append(origin.entry)
        if origin.caller is not None:
            line = reached.callers.get(origin.caller, origin.line)
            reached.callers[origin.caller] = min(line, origin.line)
        self._trace(frame)

    def _trace_every_frame(self, function: Function, outer: Frame | None) -> None:
        """A compiled function is compiled for every `self` and every caller that it has."""
        self._compiled.add((function, outer))
        for frame in self._frames.get((function, outer), ()):
            self._trace(frame)

    def _trace(self, frame: Frame) -> None:
        if frame not in self._traced:
            self._traced.add(frame)
            self._flow.later(partial(self._scan, frame))
            if self._compiles and frame.holder not in self._running:
                self._flow.later(partial(self._run, frame))

    def _scan(self, frame: Frame) -> None:
        """Follow everything that a traced frame runs."""
        actions = self._calls.outlines[frame.path].actions_of(frame.holder)
        for call in actions.calls:
            self._scan_call(call, frame)
        for node in actions.attributes:
            if node.attr in self._calls.spotted.properties:
                self._watch(node.value, node.lineno, frame, partial(self._reach_getter, node.attr))
        for expression in actions.withs:
            self._watch(expression, expression.lineno, frame, partial(self._reach_implicit, _ENTERING))
        for expression in actions.iterated:
            self._watch(expression, expression.lineno, frame, partial(self._reach_implicit, _ITERATING))

    def _watch(self, expression: ast.expr, line: int, frame: Frame, action: Callable[[Origin, Value], None]) -> None:
        slot = self._calls.slot(expression, frame)
        if slot is not None:
            self._flow.want(slot)
            self._flow.watch(slot, partial(action, Origin(caller=frame.function, line=line)))

    def _reach_getter(self, name: str, origin: Origin, value: Value) -> None:
        if isinstance(value, InstanceValue):
            self._reach_all(self._calls.attributes.getters(value, name), origin)

    def _reach_implicit(self, names: tuple[str, ...], origin: Origin, value: Value) -> None:
        if isinstance(value, InstanceValue):
            self._reach_methods(value, names, origin)

    def _scan_call(self, call: ast.Call, frame: Frame) -> None:
        names = self._calls.project.names_of(frame.path)
        origin = Origin(caller=frame.function, line=call.lineno, site=call)
        builtin = _builtin(call.func, names)
        callee = self._calls.slot(call.func, frame)
        if callee is not None:
            self._reach_all(callee, origin)
        self._calls.slot(call, frame)
        if builtin is not None and builtin not in CALLING_BUILTINS:
            return
        known = library_function(names.qualified(call.func) or "")
        if known is not None and known.effect is not Effect.PARTIAL:
            return
        for argument in self._calls.applications.arguments(call, frame).slots():
            self._flow.watch(argument, partial(self._reach_argument, origin))
            if callee is not None:
                self._flow.watch(callee, partial(self._reach_modules, argument, origin))

    def _reach_argument(self, origin: Origin, value: Value) -> None:
        """A function that is passed on is taken to be called."""
        if isinstance(value, FunctionValue | BoundValue | PartialValue | WrappedValue):
            self._reach(origin, value)

    def _reach_modules(self, argument: Slot[Value], origin: Origin, callee: Value) -> None:
        """A module that is passed to a library function, such as `checkpoint`, is taken to be called."""
        if isinstance(callee, LibraryValue) and library_function(callee.name) is None:
            self._flow.want(argument)
            self._flow.watch(argument, partial(self._reach_module, origin))

    def _reach_module(self, origin: Origin, value: Value) -> None:
        if isinstance(value, InstanceValue) and self._may_be_module(value.info):
            self._reach(origin, value)


def _builtin(function: ast.expr, names: Names) -> str | None:
    if isinstance(function, ast.Name) and hasattr(builtins, function.id) and names.is_builtin(function, function.id):
        return function.id
    return None
