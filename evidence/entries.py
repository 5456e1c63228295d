"""Compiled entries: what the program gives to torch.compile, and each call of it.

Every torch.compile makes an OptimizeContext, whose `enter_exit_hooks` Dynamo runs at the start of each call of the
compiled function; what a hook returns is run at the end of the call, also after an exception (torch 2.6 to 2.14,
_dynamo/eval_frame.py). That is where calls are counted: the compiled function stays the object that torch returned,
and Dynamo traces into it as before. The hooks run while no frame is compiled, except in a call inside another one up to
torch 2.7, so they switch Dynamo off themselves.

The one call whose end is not told is one under fullgraph=True for which Dynamo compiled nothing and raises: it is
forgotten as soon as its frame is seen to be gone.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import sys
import threading
import time
import types
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from gbfix.evidence.compiled import (
    Function,
    compile_call,
    describe_arguments,
    function_of,
    named_arguments,
    settings_of,
)
from gbfix.evidence.ending import at_end
from gbfix.evidence.imports import after_import
from gbfix.evidence.integers import integers_of
from gbfix.evidence.journal import Journal
from gbfix.evidence.saved_modules import save_module

RECORDED_CALLS = 32
DISTINCT_ARGUMENTS = 256
RECORDED_INTEGERS = 4
"""Calls with the same arguments, but for the elements of their tensors, of which those of integers are kept."""
ENTRIES_PER_PLACE = 64
SECONDS_BETWEEN_COUNTS = 2.0
SHARE_BETWEEN_COUNTS = 0.05
"""Of the time since the first count: so the notes of a long run grow with the logarithm of its length."""


class Listener(Protocol):
    """Told about the calls of outermost entries, in the thread that makes them and outside all tracing."""

    def before(self, entry: int) -> None:
        """A call begins."""

    def after(self, entry: int, *, compiled: bool) -> None:
        """The call returned or raised; compiled: Dynamo compiled something meanwhile."""


def install(journal: Journal) -> None:
    """Take notes of entries and their calls in this process, once Dynamo is imported. Raises nothing."""
    after_import("torch._dynamo.eval_frame", functools.partial(_attach, _Recorder(journal)))


def current_call() -> tuple[int | None, int | None]:
    """Entry and call number (1-based) of the outermost compiled call that runs in this thread."""
    running = _THREAD.running
    if running:
        _forget_finished(running, sys._getframe())
    return (running[0].entry.id, running[0].number) if running else (None, None)


def frames_of_call() -> list[types.FrameType] | None:
    """The frames that run since this thread's outermost compiled call began, the last first; None outside of one."""
    running, found = _THREAD.running, []
    frame: types.FrameType | None = sys._getframe(1)
    while running and frame is not None and id(frame) != running[0].frame:
        found.append(frame)
        frame = frame.f_back
    return found if running and frame is not None else None


def listen(listener: Listener) -> None:
    """Tell `listener` about every outermost call from now on; it must not raise."""
    _LISTENERS.append(listener)


class _Entry:
    """What is known of one entry, and counted."""

    def __init__(self, number: int, function: Function) -> None:
        self.id = number
        self.function = function
        self.start_counting()

    def start_counting(self) -> None:
        # `next` of a counter is one step to Python, so that threads do not lose calls to each other.
        self.numbers = itertools.count(1)
        self.count = 0
        self.told = 0
        self.first_calls: dict[str, int] = {}
        self.arguments: Counter[str] = Counter()


class _Call:
    """One call of an entry that is running; Dynamo calls it when the call ends."""

    __slots__ = ("compilations", "entry", "frame", "number", "outermost", "recorder")

    def __init__(self, recorder: _Recorder, entry: _Entry, number: int, frame: int, outermost: bool) -> None:
        self.recorder = recorder
        self.entry = entry
        self.number = number
        self.frame = frame
        self.outermost = outermost
        self.compilations = recorder.compilations()

    def __call__(self) -> None:
        prior = self.recorder.set_eval_frame(None)
        try:
            self.recorder.leave(self, sys._getframe(1))
        except Exception:  # counting must not break the program
            return
        finally:
            self.recorder.set_eval_frame(prior)


class _Hook:
    """The hook in one OptimizeContext. One context may have compiled several functions."""

    def __init__(self, recorder: _Recorder) -> None:
        self.recorder = recorder
        self.entries: dict[int, _Entry | None] = {}
        self.only: _Entry | None = None

    def add(self, function: object, entry: _Entry | None) -> None:
        """Calls that run `function` are calls of `entry`, None when they are not counted.

        Told by id: torch keeps the function as long as it can be called.
        """
        self.entries[id(function)] = entry
        self.only = entry if len(set(self.entries.values())) == 1 else None

    def __call__(self) -> Callable[[], None]:
        prior = self.recorder.set_eval_frame(None)
        try:
            frame = sys._getframe(1)
            if frame.f_code.co_name == "<listcomp>" and frame.f_back is not None:  # Python 3.11 and before
                frame = frame.f_back
            return self.recorder.enter(self, frame)
        except Exception:  # counting must not break the program
            return _nothing
        finally:
            self.recorder.set_eval_frame(prior)


class _Thread(threading.local):
    """The calls running in one thread, and what is being given to torch.compile there."""

    def __init__(self) -> None:
        self.running: list[_Call] = []
        self.compiling: _Compiling | None = None


class _Compiling:
    """An outermost torch.compile: compiling a module or a class compiles some of its methods."""

    def __init__(self, subject: object) -> None:
        self.subject = subject
        self.entry: _Entry | None = None


_THREAD = _Thread()
_LISTENERS: list[Listener] = []


class _Recorder:
    """Everything noted in one process."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.entries: list[_Entry] = []
        self.same_place: dict[tuple[object, ...], list[_Entry]] = {}
        self.first_counts = 0.0
        self.next_counts = 0.0
        self.set_eval_frame: Callable[[Any], Any] = _nothing
        self.times: dict[str, list[float]] = {}

    def compilations(self) -> int:
        """How many compilations there were: Dynamo appends the time of each (torch 2.6 to 2.14, _dynamo/utils.py)."""
        return len(self.times.get("_compile.compile_inner", ()))

    def note_entry(self, context: Any, compiling: _Compiling, result: object) -> None:  # noqa: ANN401
        """Note what was compiled, and see to it that its calls are told."""
        if compiling.entry is None:
            place = compile_call()
            if place is None:
                return
            compiling.entry = self._entry(context, compiling.subject, *place)
        if isinstance(result, types.FunctionType):
            hook = next((hook for hook in context.enter_exit_hooks if isinstance(hook, _Hook)), None)
            if hook is None:
                hook = _Hook(self)
                context.enter_exit_hooks.append(hook)
            function = vars(result).get("_torchdynamo_orig_callable")
            # Of a class of modules torch compiles __call__ and _call_impl, which runs inside the other.
            inside = isinstance(compiling.subject, type) and getattr(function, "__name__", "") == "_call_impl"
            hook.add(function, None if inside else compiling.entry)

    def _entry(self, context: Any, subject: object, file: str | None, line: int | None) -> _Entry:  # noqa: ANN401
        function = function_of(subject)
        alike = self.same_place.setdefault((file, line, function.file, function.line), [])
        if len(alike) >= ENTRIES_PER_PLACE:
            return alike[-1]
        entry = _Entry(len(self.entries) + 1, function)
        self.entries.append(entry)
        alike.append(entry)
        self.journal.write_header(
            "entry",
            entry=entry.id,
            file=file,
            line=line,
            function=function.name,
            function_file=function.file,
            function_line=function.line,
            **settings_of(context),
        )
        return entry

    def enter(self, hook: _Hook, frame: types.FrameType) -> Callable[[], None]:
        running = _THREAD.running
        if running:
            _forget_finished(running, frame)
        entry = hook.only or hook.entries[id(frame.f_locals["fn"])]
        if entry is None:
            return _nothing
        number = next(entry.numbers)
        if number > entry.count:  # another thread may have come first
            entry.count = number
        call = _Call(self, entry, number, id(frame), not running)
        running.append(call)
        try:
            if number == 1:
                self.note_module(entry, frame)
            if number <= RECORDED_CALLS:
                self.note_call(call, frame)
            if number == 1 or time.monotonic() >= self.next_counts:
                self.note_counts()
            if call.outermost:
                for listener in _LISTENERS:
                    listener.before(entry.id)
        except Exception as error:  # the call is counted all the same
            self.journal.write("problem", message=f"a compiled call could not be noted: {error!r}")
        return call

    def leave(self, call: _Call, frame: types.FrameType) -> None:
        running = _THREAD.running
        if running and running[-1] is call:
            running.pop()
        elif call in running:
            del running[running.index(call) :]
        compiled = self.compilations() != call.compilations
        if call.outermost:
            for listener in _LISTENERS:
                listener.after(call.entry.id, compiled=compiled)
        if compiled and call.number > RECORDED_CALLS:
            self.note_call(call, frame)

    def note_module(self, entry: _Entry, frame: types.FrameType) -> None:
        """Save the module of an entry where that is wanted."""
        path = save_module(frame.f_locals.get("fn"), entry.id)
        if path is not None:
            self.journal.write("module", entry=entry.id, path=path)

    def note_call(self, call: _Call, frame: types.FrameType) -> None:
        """Note the arguments, unless an earlier call had the same; `frame` is torch's wrapper of the function."""
        entry, names = call.entry, frame.f_locals
        if "args" not in names:
            return
        arguments = describe_arguments(entry.function, names.get("fn"), names["args"], names["kwargs"])
        facts = json.dumps(arguments, sort_keys=True)
        first = entry.first_calls.get(facts)
        if first is None:
            if len(entry.first_calls) >= DISTINCT_ARGUMENTS:
                return
            first = entry.first_calls[facts] = call.number
            self.journal.write("call", entry=entry.id, call=call.number, arguments=arguments)
        entry.arguments[str(first)] += 1
        if entry.arguments[str(first)] <= RECORDED_INTEGERS:
            integers = integers_of(named_arguments(entry.function, names["args"], names["kwargs"]))
            if integers:
                self.journal.write("integers", entry=entry.id, call=first, elements=integers)

    def note_counts(self) -> None:
        """Note the totals of the entries that were called since the last time."""
        now = time.monotonic()
        self.first_counts = self.first_counts or now
        self.next_counts = now + max(SECONDS_BETWEEN_COUNTS, SHARE_BETWEEN_COUNTS * (now - self.first_counts))
        for entry in self.entries:
            if entry.count != entry.told:
                entry.told = entry.count
                self.journal.write("calls", entry=entry.id, count=entry.count, arguments=dict(entry.arguments))

    def start_again(self) -> None:
        """A forked child has made no calls, not even the one that it was forked in."""
        _THREAD.running.clear()
        self.first_counts = self.next_counts = 0.0
        for entry in self.entries:
            entry.start_counting()


def _attach(recorder: _Recorder, eval_frame: Any) -> None:  # noqa: ANN401
    recorder.set_eval_frame = eval_frame.set_eval_frame
    recorder.times = sys.modules["torch._dynamo.utils"].compilation_time_metrics
    context_class = eval_frame._TorchDynamoContext
    original = context_class.__call__

    @functools.wraps(original)
    def compile_function(self: Any, fn: Any) -> Any:  # noqa: ANN401
        if not isinstance(self, eval_frame.OptimizeContext) or getattr(self, "export", False):
            return original(self, fn)
        outer = _THREAD.compiling
        compiling = _THREAD.compiling = outer or _Compiling(fn)
        try:
            result = original(self, fn)
        finally:
            _THREAD.compiling = outer
        prior = eval_frame.set_eval_frame(None)
        try:
            recorder.note_entry(self, compiling, result)
        except Exception as error:  # the entry is missing in the notes, the program goes on
            recorder.journal.write("problem", message=f"a compiled function could not be noted: {error!r}")
        finally:
            eval_frame.set_eval_frame(prior)
        return result

    context_class.__call__ = compile_function
    at_end(recorder.note_counts)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.start_again)


def _forget_finished(running: list[_Call], frame: types.FrameType) -> None:
    """Drop the calls that ended without telling: those whose frame is not among the callers of `frame`."""
    callers = set()
    caller = frame.f_back
    while caller is not None:
        callers.add(id(caller))
        caller = caller.f_back
    while running and running[-1].frame not in callers:
        running.pop()


def _nothing(_: object = None) -> None:
    return None
