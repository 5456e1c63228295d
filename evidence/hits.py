"""How often each compiled fragment runs once the program is warm, and the time there.

Dynamo marks each run of a fragment as an event "Torch-Compiled Region: 3/0" for profilers (torch 2.6 to 2.14, for any
backend, fragments without operations included). A few calls of each entry are made under PyTorch's older profiler of
CPU events: unlike Kineto it prints nothing, knows no GPU, and starts and stops within microseconds. It is on only while
such a call runs, and sees only the thread that makes it: regions that run in other threads are not counted.

A program's own profiler comes first: no call is counted while one is on in its thread, and when one is started in the
middle of a counted call, counting that call is given up before.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from gbfix.evidence import entries
from gbfix.evidence.ending import at_end
from gbfix.evidence.imports import after_import
from gbfix.evidence.journal import Journal

CALLS_PER_WINDOW = 3
WINDOWS_PER_ENTRY = 4
CALLS_BETWEEN_WINDOWS = 50
SECONDS_PER_CALL = 0.5
"""No call is counted after one that ran longer, compiling aside: the profiler keeps every operation of a call, and a
long loop over small ones in Python makes more than a gigabyte of them each second."""
PATIENCE = 10
"""After so many calls a window opens although each call compiled something."""

_REGION = "Torch-Compiled Region"


def install(journal: Journal) -> None:
    """Count regions in this process from now on; needs `entries`. Raises nothing."""
    after_import("torch._dynamo.eval_frame", lambda _: _attach(_Hits(journal)))


@dataclass
class _Region:
    hits: int = 0
    seconds: float = 0.0


@dataclass
class _Window:
    """The calls of one entry that were counted so far; compiled: some of them compiled something."""

    calls: int = 0
    compiled: bool = False
    regions: dict[str, _Region] = field(default_factory=dict)


@dataclass
class _Warmth:
    """How warm an entry is. calls: since its last window. busy: the last call compiled something.

    changed: something was compiled since the last window, or there was no window. seconds: how long the last call took.
    passed_over: some call was not counted because the one before took long.
    """

    calls: int = 0
    busy: bool = True
    changed: bool = True
    windows: int = 0
    seconds: float = 0.0
    passed_over: bool = False
    window: _Window | None = None

    def opens(self) -> bool:
        """Whether a window begins with the next call."""
        if not self.changed or self.windows >= WINDOWS_PER_ENTRY:
            return False
        rest = CALLS_BETWEEN_WINDOWS if self.windows else 1
        return self.calls >= rest and (not self.busy or self.calls >= rest + PATIENCE - 1)


class _Hits:
    """Opens and closes windows; a `Listener` of `entries`."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.profiler = _Profiler()
        self.warmth: dict[int, _Warmth] = {}
        self.lock = threading.Lock()
        self.clock = _Clock()
        self.failed = False

    def before(self, entry: int) -> None:
        """Begin to record this call when it belongs into a window."""
        self.profiler.give_up()  # of a call whose end was not told
        warmth = self.warmth.get(entry)
        if warmth is None:
            warmth = self.warmth.setdefault(entry, _Warmth())
        self.clock.start()
        if self.failed or (warmth.window is None and not warmth.opens()):
            return
        if warmth.seconds > SECONDS_PER_CALL:
            warmth.passed_over = True
            return
        with self.lock:
            if warmth.window is None and not warmth.opens():  # another thread closed it just now
                return
            warmth.window = warmth.window or _Window()
        try:
            self.profiler.start()
        except Exception as error:
            self.failed = True
            self.journal.write("problem", message=f"runs of compiled fragments could not be counted: {error!r}")

    def after(self, entry: int, *, compiled: bool) -> None:
        """Count what ran in this call."""
        seconds = self.clock.seconds()
        threads = self.profiler.stop()
        warmth = self.warmth.get(entry)
        if warmth is None:  # the process forked in this call
            return
        warmth.calls += 1
        warmth.seconds = seconds
        warmth.busy = compiled
        warmth.changed = warmth.changed or compiled
        if threads is not None:
            with self.lock:
                self.count(entry, warmth, threads, compiled)

    def count(self, entry: int, warmth: _Warmth, threads: list[list[Any]], compiled: bool) -> None:
        """Add a call to the window of its entry, and close it with the last one."""
        window = warmth.window
        if window is None:  # closed by another thread
            return
        window.calls += 1
        window.compiled = window.compiled or compiled
        for events in threads:
            _add_regions(events, window.regions)
        if window.calls >= CALLS_PER_WINDOW:
            self.note(entry, warmth)

    def note(self, entry: int, warmth: _Warmth) -> None:
        """Close the window of an entry. What was compiled during it is counted again in a later one."""
        window = warmth.window
        if window is None or not window.calls:
            return
        regions = {name: {"hits": region.hits, "seconds": region.seconds} for name, region in window.regions.items()}
        self.journal.write("window", calls={str(entry): window.calls}, regions=regions, compiled=window.compiled)
        warmth.window = None
        warmth.windows += 1
        warmth.calls = 0
        warmth.changed = window.compiled

    def note_rest(self) -> None:
        """Close the windows that the end of the program cuts short."""
        with self.lock:
            for entry, warmth in self.warmth.items():
                self.note(entry, warmth)
            if any(warmth.passed_over and not warmth.windows for warmth in self.warmth.values()):
                message = f"how often fragments run was not counted in calls that take longer than {SECONDS_PER_CALL} s"
                self.journal.write("problem", message=message)

    def start_again(self) -> None:
        """A forked child has made no calls."""
        self.lock = threading.Lock()
        self.profiler.give_up()
        self.warmth.clear()


class _Clock(threading.local):
    """How long a call runs in this thread, without the time in which Dynamo compiles (see `entries`)."""

    def __init__(self) -> None:
        self._compilations = 0
        self._began = 0.0

    def start(self) -> None:
        """A call begins."""
        self._compilations = len(_compile_times())
        self._began = time.perf_counter()

    def seconds(self) -> float:
        """The time since the call began."""
        return time.perf_counter() - self._began - sum(_compile_times()[self._compilations :])


def _compile_times() -> list[float]:
    """How long each compilation took (torch 2.6 to 2.14, _dynamo/utils.py)."""
    utils: Any = sys.modules["torch._dynamo.utils"]
    times: list[float] = utils.compilation_time_metrics.get("_compile.compile_inner", [])
    return times


class _Profiler:
    """PyTorch's profiler of CPU events, for one call at a time in each thread."""

    def __init__(self) -> None:
        autograd: Any = sys.modules["torch._C._autograd"]
        settings: Any = sys.modules["torch._C._profiler"]
        self._enable = autograd._enable_profiler_legacy
        self._disable = autograd._disable_profiler_legacy
        self._is_enabled = autograd._profiler_enabled
        no_options = (False,) * 5  # shapes, memory, Python stacks, FLOPs, modules
        self._config = settings.ProfilerConfig(settings.ProfilerState.CPU, *no_options, settings._ExperimentalConfig())
        self._thread = _Thread()

    def start(self) -> None:
        """Begin to record this thread, unless a profiler is on in it."""
        if not self._is_enabled():
            self._enable(self._config)
            self._thread.recorded = True

    def stop(self) -> list[list[Any]] | None:
        """The events since `start` by thread; None when recording did not begin, or was given up."""
        if not self._thread.recorded:
            return None
        self._thread.recorded = False
        threads: list[list[Any]] = self._disable()
        return threads

    def give_up(self) -> None:
        """Stop to record this thread, if it is recorded, and forget the events."""
        if self._thread.recorded:
            self.stop()


class _Thread(threading.local):
    recorded = False


def _attach(hits: _Hits) -> None:
    entries.listen(hits)
    at_end(hits.note_rest)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=hits.start_again)
    # All profilers of PyTorch that a program can start in Python go through one of these names.
    for module, name in (
        ("torch.autograd.profiler", "_enable_profiler"),
        ("torch.autograd.profiler_legacy", "_enable_profiler_legacy"),
    ):
        after_import(module, functools.partial(_give_up_before, hits.profiler, name))


def _give_up_before(profiler: _Profiler, name: str, module: ModuleType) -> None:
    original = getattr(module, name)

    @functools.wraps(original)
    def enable(*arguments: object, **options: object) -> object:
        try:
            profiler.give_up()
        except Exception:  # PyTorch then says that a profiler is on already
            return original(*arguments, **options)
        return original(*arguments, **options)

    setattr(module, name, enable)


def _add_regions(events: list[Any], regions: dict[str, _Region]) -> None:
    """Add the runs among the events of one thread; a region that runs inside another takes its time from it."""
    running: list[_Run] = []
    for event in events:
        kind = event.kind()
        if kind == "push":
            name = event.name()
            if name.startswith(_REGION):
                region = regions.setdefault(name.removeprefix(_REGION).lstrip(": "), _Region())
                region.hits += 1
                running.append(_Run(region, event))
        elif kind == "pop" and running and event.handle() == running[-1].event.handle():
            run = running.pop()
            seconds = run.event.cpu_elapsed_us(event) / 1e6
            run.region.seconds += seconds - run.inside
            if running:
                running[-1].inside += seconds


@dataclass
class _Run:
    """A region that is running. inside: seconds of those that ran in it."""

    region: _Region
    event: Any
    inside: float = 0.0
