"""Timing calls of one version, in its own process: what `bench` asks for, round by round.

Only forward calls are timed. Arguments are built before the clock starts, anew for each call when calls write into
them. On a GPU the time is that between two CUDA events, else that of `time.perf_counter`.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch.utils import _pytree as pytree

from gbfix.equivalence.example import Example
from gbfix.equivalence.model import CheckError

ROUND_SECONDS = 0.1
"""How long a round should last."""

_MOST_CALLS = 100_000
_WARM_CALLS = 3
"""So many calls in a row must compile nothing before the first round."""
_WARM_UP_CALLS = 40
_WARM_UP_SECONDS = 20.0
"""A program that compiles something in every call never comes to rest."""

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class ColdStart:
    """Make the first call and warm up. cache: an empty folder for compiled code. Answered by `Started`."""

    example: Example
    cache: str


@dataclass(frozen=True)
class Round:
    """Make so many calls in steady state. Answered by the seconds that each took on average."""

    calls: int


@dataclass(frozen=True)
class CountKernels:
    """Make one call under the profiler. Answered by its number of kernels or operators, None where it shows none."""


BenchRequest: TypeAlias = ColdStart | Round | CountKernels


@dataclass(frozen=True)
class Started:
    """seconds: of the first call, compilation included. calls: how many make a good round. device: of the version."""

    seconds: float
    calls: int
    device: str


class Stopwatch:
    """Answers the requests of a bench, the first of which is a `ColdStart`."""

    def __init__(
        self, target: Callable[[Example], Callable[..., object]], build: Callable[[Example], Arguments], device: str
    ) -> None:
        """target: gives what to call, compiled and in the mode of the example. build: makes fresh arguments."""
        self._target = target
        self._build = build
        self._device = device
        self._calls: _Calls | None = None

    def answer(self, request: BenchRequest) -> Started | float | int | None:
        """What a request asks for. Raises CheckError when a call raises."""
        try:
            if isinstance(request, ColdStart):
                return self._cold_start(request)
            assert self._calls is not None, "no cold start was asked for"
            return self._calls.round(request.calls) if isinstance(request, Round) else self._calls.kernels()
        except CheckError:
            raise
        except Exception as error:
            text = " ".join(str(error).split())
            raise CheckError(f"not timed: the call raises {type(error).__name__}: {text}") from error

    def _cold_start(self, request: ColdStart) -> Started:
        example = request.example
        function = self._target(example)
        _forget_compiled_code(request.cache)
        calls = _Calls(function, lambda: self._build(example), grad=example.grad_enabled, device=self._device)
        first = calls.one()
        calls.warm_up()
        self._calls = calls
        return Started(first, calls.in_a_round(), self._device)


def _forget_compiled_code(folder: str) -> None:
    """Compile from nothing, into an empty folder: finding out what the target is may have compiled it."""
    # Both are read whenever a path is made (torch 2.6 to 2.13, _inductor/runtime/).
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
    torch.compiler.reset()
    utils = sys.modules.get("torch._inductor.utils")
    if utils is not None:
        utils.clear_inductor_caches()


class _Calls:
    """Calls with one example."""

    def __init__(
        self, function: Callable[..., object], build: Callable[[], Arguments], *, grad: bool, device: str
    ) -> None:
        """build: gives fresh arguments. grad: gradients are on."""
        self._function = function
        self._build = build
        self._grad = grad
        self._on_gpu = device.startswith("cuda")
        self._arguments = build()
        self._writes = False
        """Calls change the arguments: each needs its own."""

    def one(self) -> float:
        """Seconds of one call by the clock, with fresh arguments; notes whether it writes into them."""
        self._arguments = args, kwargs = self._build()
        before = _state(self._arguments)
        with _grad_mode(self._grad):
            self._finish()
            start = time.perf_counter()
            self._function(*args, **kwargs)
            self._finish()
            seconds = time.perf_counter() - start
        self._writes = self._writes or _state(self._arguments) != before
        return seconds

    def warm_up(self) -> None:
        """Call until nothing is compiled any more."""
        until = time.monotonic() + _WARM_UP_SECONDS
        warm = 0
        for _ in range(_WARM_UP_CALLS):
            compiled = _compilations()
            self.one()
            warm = warm + 1 if _compilations() == compiled else 0
            if warm >= _WARM_CALLS or time.monotonic() > until:
                return

    def in_a_round(self) -> int:
        """How many calls take about `ROUND_SECONDS`."""
        calls = 1
        while calls < _MOST_CALLS:
            seconds = self.round(calls)
            if seconds * calls >= ROUND_SECONDS / 4:
                return max(1, round(ROUND_SECONDS / seconds))
            calls *= 4
        return _MOST_CALLS

    def round(self, calls: int) -> float:
        """Seconds of a call, the mean of `calls`."""
        with _grad_mode(self._grad), _no_garbage_collection():
            if not self._writes:
                return self._timed(calls, self._arguments) / calls
            return sum(self._timed(1, self._build()) for _ in range(calls)) / calls

    def kernels(self) -> int | None:
        """How many kernels one call runs on a GPU; on a CPU, how many operators it calls outside of one another."""
        from torch.profiler import ProfilerActivity, profile

        args, kwargs = self._build()
        activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if self._on_gpu else [])]
        with _grad_mode(self._grad):
            self._finish()
            with profile(activities=activities) as profiler:
                self._function(*args, **kwargs)
                self._finish()
        events = profiler.events() or []
        counted = _is_kernel if self._on_gpu else _is_operator
        return sum(1 for event in events if counted(event)) or None

    def _timed(self, calls: int, arguments: Arguments) -> float:
        args, kwargs = arguments
        function = self._function
        turns = itertools.repeat(None, calls)
        if self._on_gpu:
            begin, end = _cuda_event(), _cuda_event()
            self._finish()
            begin.record()
            for _ in turns:
                function(*args, **kwargs)
            end.record()
            self._finish()
            milliseconds: float = begin.elapsed_time(end)
            return milliseconds / 1000
        start = time.perf_counter()
        for _ in turns:
            function(*args, **kwargs)
        return time.perf_counter() - start

    def _finish(self) -> None:
        if self._on_gpu:
            torch.cuda.synchronize()


def _cuda_event() -> Any:  # noqa: ANN401
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def _grad_mode(enabled: bool) -> Any:  # noqa: ANN401
    return torch.set_grad_enabled(enabled)


def _state(arguments: Arguments) -> list[object]:
    """Changes when a call writes into a tensor, or changes a container."""
    leaves, structure = pytree.tree_flatten(arguments)
    return [structure, *(_version(leaf) for leaf in leaves)]


def _version(leaf: object) -> object:
    if not isinstance(leaf, torch.Tensor):
        return id(leaf)
    return (id(leaf), 0 if leaf.is_inference() else leaf._version)


def _compilations() -> int:
    """Dynamo appends the time of each compilation (torch 2.6 to 2.14, _dynamo/utils.py)."""
    utils = sys.modules.get("torch._dynamo.utils")
    return 0 if utils is None else len(utils.compilation_time_metrics.get("_compile.compile_inner", ()))


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A collection takes longer than many calls and comes when it likes."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _is_kernel(event: Any) -> bool:  # noqa: ANN401
    if event.device_type.name != "CUDA" or getattr(event, "is_user_annotation", False):
        return False
    return not event.name.startswith(("Memcpy", "Memset"))


def _is_operator(event: Any) -> bool:  # noqa: ANN401
    """An operator of PyTorch's dispatcher ("aten::add") that no other one called."""
    if "::" not in event.name:
        return False
    caller = event.cpu_parent
    while caller is not None:
        if "::" in caller.name:
            return False
        caller = caller.cpu_parent
    return True
