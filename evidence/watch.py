"""Observes the lines of functions that Dynamo gave up, while they run in Python.

Such a frame is not traced again, so what its names hold is seen only by watching it: with `sys.monitoring` from Python
3.12 on, and before with a trace function that looks into the functions concerned and no others. Each line is watched
for its first runs, after which it costs nothing.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType, ModuleType
from typing import Any

from gbfix.evidence.candidates import Candidate
from gbfix.evidence.facts import Facts
from gbfix.evidence.frame_values import SNAPSHOTS, read_frame
from gbfix.evidence.sources import Sources
from gbfix.evidence.starts import Open, Start

MAX_RUNS = 200
FEW_RUNS = 10
MAX_CALLS = 200_000
"""Calls of any function that the trace function of Python 3.11 and before may see in a process."""
IDLE_CALLS = 40_000
"""The same since one of the functions that it looks for was last called."""
TOOL_IDS = (4, 3)
"""Those of `sys.monitoring` that no kind of tool has been promised."""
READS_LOCALS = frozenset({"locals", "vars", "dir", "exec", "eval"})

MONITORING: Any = getattr(sys, "monitoring", None)


@dataclass
class _Line:
    """One candidate of a watched function. changed_at: the run that last showed something new."""

    candidate: Candidate
    runs: int = 0
    changed_at: int = 0


@dataclass
class _Watched:
    """A function that is watched. entries: its lines by the offset of the instruction where each begins.

    given_up: Dynamo leaves it to Python. Another one is compiled, and watched for calls from outside compiled code,
    which may never come.
    """

    code: CodeType
    entries: dict[int, _Line]
    given_up: bool = True
    calls: int = 0

    def lines(self) -> Iterator[_Line]:
        yield from {line.candidate.line: line for line in self.entries.values()}.values()


class Watcher:
    """Knows which functions Dynamo gave up, and watches their candidate lines."""

    def __init__(self, facts: Facts, sources: Sources, quietly: Callable[..., None]) -> None:
        """`quietly` runs an action with arguments and reports its failure instead of raising it."""
        self._facts = facts
        self._sources = sources
        self._quietly = quietly
        self._known: dict[int, CodeType] = {}
        self._seen: dict[int, _Watched] = {}
        self._opens: dict[CodeType, list[Open]] = {}
        self._watch = Monitor(facts) if MONITORING is not None else Tracer(facts, sources)

    def attach(self, module: ModuleType) -> None:
        """Learn of each frame that Dynamo leaves to Python, from the callback that its frame evaluation calls.

        That is `CatchErrorsWrapper` of `torch._dynamo.convert_frame` (2.6 to 2.14); a code object that was skipped once
        is not reported again.
        """
        wrapper: Any = module.CatchErrorsWrapper
        original = wrapper.__call__

        def call(callback: Any, frame: Any, *arguments: Any) -> Any:  # noqa: ANN401
            resume = self._watch.pause()
            try:
                result = original(callback, frame, *arguments)
                self._quietly(self._frame_converted, frame.f_code, result)
            finally:
                resume()
            return result

        # Dynamo cuts stacks at the frames of its own file: with this name it cuts ours as well.
        call.__code__ = call.__code__.replace(co_filename=str(module.__file__))
        wrapper.__call__ = functools.wraps(original)(call)

    def remember(self, code: CodeType) -> None:
        """Note that a function was traced, perhaps inlined into another one."""
        self._known.setdefault(id(code), code)

    def complete_at_start(self, code: CodeType, waiting: Open) -> None:
        """Note an observation each time that the function, once compiled, starts: only then is all of it known."""
        self._opens.setdefault(code, []).append(waiting)

    def before(self, _entry: int) -> None:
        """A compiled call begins, perhaps in a thread that makes its first one (see `entries.Listener`)."""
        self._quietly(self._watch.call_begins)

    def after(self, _entry: int, *, compiled: bool) -> None:
        """A compiled call ended."""

    def finish(self) -> None:
        """Note what could not be watched to the end of the process."""
        for code in list(self._opens):
            self._give_up(code)
        self._watch.finish()

    def _give_up(self, code: CodeType) -> None:
        for waiting in self._opens.pop(code, []):
            waiting.note_of_one_call(self._facts)

    def _frame_converted(self, code: CodeType, result: Any) -> None:  # noqa: ANN401
        guarded = getattr(result, "guarded_code", result)
        if type(guarded).__name__ == "GuardedCode":
            opens = self._opens.pop(code, [])
            if opens and not self._watch.add_start(Start(guarded.code, opens)):
                for waiting in opens:
                    waiting.note(self._facts)
            return
        self._give_up(code)
        self.add(code)
        strategy = getattr(result, "frame_exec_strategy", None)
        # 2.6 returns a marker object instead of None when the functions called below are skipped as well.
        recursive = result is not None if strategy is None else "DEFAULT" not in str(strategy.recursive_action)
        for known in list(self._known.values()):
            if recursive or is_generator(known):
                self.add(known)

    def add(self, code: CodeType, *, given_up: bool = True) -> None:
        """Watch a function from its next call in Python on, if it has candidates."""
        watched = self._seen.get(id(code))
        if watched is not None and (watched.given_up or not given_up):
            return
        candidates = self._sources.lines(code.co_filename)
        entries = _entries(code, candidates) if candidates else {}
        if entries and code.co_flags & inspect.CO_OPTIMIZED:
            watched = watched or _Watched(code, entries)
            watched.given_up = given_up
            self._seen[id(code)] = watched
            if SNAPSHOTS and READS_LOCALS.intersection(code.co_names):
                _unwatched(self._facts, watched, "the function reads its own locals, which watching it would change")
            else:
                self._watch.add(watched)


class Monitor:
    """Watches by LINE events of `sys.monitoring` that are local to the functions concerned, in every thread."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._tool: int | None = None
        self._watched: dict[int, _Watched] = {}
        self._starts: dict[int, Start] = {}

    def pause(self) -> Callable[[], None]:
        """Nothing needs to stop while Dynamo runs: events are local to functions of the program."""
        return _nothing

    def add(self, watched: _Watched) -> None:
        """Watch a function from its next call on."""
        if self._tool is None and not self._take_tool():
            _unwatched(self._facts, watched, "other tools have taken all of sys.monitoring")
            return
        self._watched[id(watched.code)] = watched
        MONITORING.set_local_events(self._tool, watched.code, MONITORING.events.LINE)

    def add_start(self, start: Start) -> bool:
        """Read a compiled function when it starts, from its next call on; False when that is not possible."""
        if self._tool is None and not self._take_tool():
            return False
        self._starts[id(start.code)] = start
        MONITORING.set_local_events(self._tool, start.code, MONITORING.events.PY_START)
        return True

    def call_begins(self) -> None:
        """Nothing needs to be done: events come from every thread."""

    def finish(self) -> None:
        """Nothing is left: every run was seen, or its line counts as settled."""

    def _take_tool(self) -> bool:
        for tool in TOOL_IDS:
            if MONITORING.get_tool(tool) is None:
                MONITORING.use_tool_id(tool, "gbfix")
                MONITORING.register_callback(tool, MONITORING.events.LINE, self._line)
                MONITORING.register_callback(tool, MONITORING.events.PY_START, self._start)
                self._tool = tool
                return True
        return False

    def _line(self, code: CodeType, _number: int) -> Any:  # noqa: ANN401
        return _outside_dynamo(self._observe, code, sys._getframe(1), otherwise=MONITORING.DISABLE)

    def _observe(self, code: CodeType, frame: FrameType) -> Any:  # noqa: ANN401
        watched = self._watched.get(id(code))
        line = None if watched is None else watched.entries.get(frame.f_lasti)
        return None if line is not None and _observe(self._facts, frame, line) else MONITORING.DISABLE

    def _start(self, code: CodeType, _offset: int) -> Any:  # noqa: ANN401
        return _outside_dynamo(self._read_start, code, sys._getframe(1), otherwise=MONITORING.DISABLE)

    def _read_start(self, code: CodeType, frame: FrameType) -> Any:  # noqa: ANN401
        start = self._starts.get(id(code))
        if start is not None and start.read(self._facts, frame):
            return None
        if self._starts.pop(id(code), None) is not None and start is not None:
            start.settle(self._facts)
        return MONITORING.DISABLE


class Tracer:
    """Watches by a trace function, for Python before 3.12: per thread, and only while there is something to watch."""

    def __init__(self, facts: Facts, sources: Sources) -> None:
        self._facts = facts
        self._sources = sources
        self._watched: dict[int, _Watched] = {}
        self._starts: dict[int, Start] = {}
        self._calls = 0
        self._idle_calls = 0

    def pause(self) -> Callable[[], None]:
        """Stop while Dynamo compiles: its own functions would all be looked at. Returns what goes on afterwards."""
        if sys.gettrace() is self._call_event:
            sys.settrace(None)
        return self._trace_this_thread

    def add(self, watched: _Watched) -> None:
        """Watch a function from its next call on, in this thread and in those that Dynamo compiles in."""
        obstacle = self._obstacle()
        if obstacle:
            _unwatched(self._facts, watched, obstacle)
        else:
            self._watched[id(watched.code)] = watched
            self._idle_calls = 0

    def add_start(self, start: Start) -> bool:
        """Read a compiled function when it starts, from its next call on; False when that is not possible."""
        if self._obstacle():
            return False
        self._starts[id(start.code)] = start
        self._idle_calls = 0
        return True

    def call_begins(self) -> None:
        """Watch the thread that makes a compiled call, whoever else does not trace it."""
        self._trace_this_thread()
        self.finish()

    def finish(self) -> None:
        """Note the functions that were still watched when somebody else replaced the trace function."""
        if self._busy and sys.gettrace() is not self._call_event:
            reason = "another trace function replaced the one of gbfix"
            for watched in list(self._watched.values()):
                _unwatched(self._facts, watched, reason)
            for start in list(self._starts.values()):
                start.unwatched(self._facts, reason)

    @property
    def _busy(self) -> bool:
        return bool(self._watched or self._starts)

    def _obstacle(self) -> str:
        """Why nothing can be watched now, empty when it can."""
        if sys.gettrace() not in (None, self._call_event):
            return "a debugger or coverage tool has set its own trace function"
        if self._others_run_project():
            return "other threads run code of the project, which Python 3.12 could watch"
        return "" if self._calls < MAX_CALLS else "watching had taken long enough"

    # The attribute holds one bound method, so that it can be told apart by identity.
    @functools.cached_property
    def _call_event(self) -> Callable[[FrameType, str, Any], Any]:
        return self._call

    def _trace_this_thread(self) -> None:
        if self._busy and sys.gettrace() is None:
            sys.settrace(self._call_event)

    def _call(self, frame: FrameType, _event: str, _argument: Any) -> Any:  # noqa: ANN401
        self._calls += 1
        self._idle_calls += 1
        watched = self._watched.get(id(frame.f_code))
        if watched is None:
            if id(frame.f_code) in self._starts:
                self._idle_calls = 0
                _outside_dynamo(self._read_start, frame)
            if self._calls >= MAX_CALLS or self._idle_calls >= IDLE_CALLS:
                _outside_dynamo(self._stop_all, "watching had taken long enough")
            if not self._busy:
                sys.settrace(None)
            return None
        self._idle_calls = 0
        watched.calls += 1
        if watched.calls > MAX_RUNS:
            return _outside_dynamo(self._stop, watched)
        return functools.partial(self._line, watched)

    def _read_start(self, frame: FrameType) -> None:
        start = self._starts[id(frame.f_code)]
        if not start.read(self._facts, frame):
            del self._starts[id(frame.f_code)]
            start.settle(self._facts)

    def _line(self, watched: _Watched, frame: FrameType, event: str, _argument: Any) -> Any:  # noqa: ANN401
        _ = frame.f_locals  # brings the snapshot up to date, which would keep alive what the function has deleted
        line = watched.entries.get(frame.f_lasti) if event == "line" else None
        if line is not None and line.runs < MAX_RUNS:
            _outside_dynamo(_observe, self._facts, frame, line)
        return functools.partial(self._line, watched)

    def _stop(self, watched: _Watched) -> None:
        self._watched.pop(id(watched.code), None)
        for line in watched.lines():
            if line.runs < MAX_RUNS:
                _settle(self._facts, watched.code, line)
        if not self._busy:
            sys.settrace(None)

    def _stop_all(self, reason: str) -> None:
        for watched in list(self._watched.values()):
            self._watched.pop(id(watched.code), None)
            for line in watched.lines():
                if line.runs < FEW_RUNS and watched.given_up:
                    self._facts.unwatched(watched.code.co_filename, line.candidate.line, reason)
                elif line.runs:
                    _settle(self._facts, watched.code, line)
        for start in list(self._starts.values()):
            del self._starts[id(start.code)]
            if start.runs < FEW_RUNS:
                start.unwatched(self._facts, reason)
            else:
                start.settle(self._facts)

    def _others_run_project(self) -> bool:
        for thread, frame in sys._current_frames().items():
            outer: FrameType | None = frame if thread != threading.get_ident() else None
            while outer is not None:
                if self._sources.is_project(outer.f_code.co_filename):
                    return True
                outer = outer.f_back
        return False


def is_generator(code: CodeType) -> bool:
    """Whether the frames of a function come to Dynamo only by inlining: it is never asked about those of generators."""
    return bool(code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))


def _nothing() -> None:
    return None


def _outside_dynamo(action: Callable[..., Any], *arguments: Any, otherwise: Any = None) -> Any:  # noqa: ANN401
    """Run a part of ours that Python calls from a frame of the program; `otherwise` is the answer when it fails.

    Frames below a compiled call are given to Dynamo, ours as well if it is not told otherwise, and the program must not
    see a failure.
    """
    set_eval_frame = sys.modules["torch"]._C._dynamo.eval_frame.set_eval_frame
    before = set_eval_frame(None)
    try:
        return action(*arguments)
    except Exception:  # what was observed so far stays
        return otherwise
    finally:
        set_eval_frame(before)


def _entries(code: CodeType, candidates: Mapping[int, Candidate]) -> dict[int, _Line]:
    """Where each candidate begins in the bytecode: at every run of instructions that belong to it.

    The compiler repeats the test of a loop and the body of `finally`, and returns to a first line within one statement.
    """
    entries: dict[int, _Line] = {}
    lines: dict[int, _Line] = {}
    previous: Candidate | None = None
    for start, _end, number in code.co_lines():
        if number is None:
            continue
        candidate = candidates.get(number)
        if candidate is not None and candidate is not previous:
            entries[start] = lines.setdefault(candidate.line, _Line(candidate))
        previous = candidate
    return entries


def _observe(facts: Facts, frame: FrameType, line: _Line) -> bool:
    """Note what the frame holds; False when the line has been seen often enough."""
    if line.runs >= MAX_RUNS:
        return False
    line.runs += 1
    if facts.add(frame.f_code.co_filename, line.candidate.line, **read_frame(frame, line.candidate)):
        line.changed_at = line.runs
    if line.runs == MAX_RUNS:
        _settle(facts, frame.f_code, line)
    return line.runs < MAX_RUNS


def _settle(facts: Facts, code: CodeType, line: _Line) -> None:
    facts.settle(code.co_filename, line.candidate.line, line.runs, line.changed_at)


def _unwatched(facts: Facts, watched: _Watched, reason: str) -> None:
    """Note that lines run unseen; those of a function that is compiled most likely do not run in Python at all."""
    for line in watched.lines() if watched.given_up else ():
        facts.unwatched(watched.code.co_filename, line.candidate.line, reason)
