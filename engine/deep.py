"""Running work that recurses deeply.

Parsers and visitors recurse once or more for each level of the source: 200 chained calls, 400 `elif`s or
a sum of 500 terms exceed Python's default recursion limit, and LibCST's native parser uses the
stack of the thread it is called from. A thread with a large stack and a raised limit cures both.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from gbfix.engine.model import GbfixError

T = TypeVar("T")

_RECURSION_LIMIT = 100_000
_MEBIBYTE = 1024 * 1024
_STACK_SIZES = (512 * _MEBIBYTE, 64 * _MEBIBYTE)
"""Virtual memory, touched only as far as it is used; the second is for processes under a memory limit."""

_here = threading.local()
_lock = threading.Lock()
_running = 0
_limit_before = 0


def with_deep_stack(work: Callable[[], T]) -> T:
    """Call `work` in a thread with a large stack and a raised recursion limit, and return its result.

    What `work` raises is raised here. The recursion limit, which is shared by all threads, is put back when the
    last such call ends. Called from inside `work`, it just calls. Raises GbfixError when no thread can be started.
    """
    if getattr(_here, "is_deep", False):
        return work()
    outcome: _Outcome[T] = _Outcome()
    with _raised_recursion_limit():
        _start(lambda: outcome.settle(work))
        return outcome.wait()


class _Outcome(Generic[T]):
    """What the work in the thread came to; `concurrent.futures` has the like, and is slow to load."""

    def __init__(self) -> None:
        self._settled = threading.Event()
        self._results: list[T] = []
        self._error: BaseException | None = None

    def settle(self, work: Callable[[], T]) -> None:
        """Do the work, in its thread."""
        _here.is_deep = True
        try:
            self._results.append(work())
        except BaseException as error:  # belongs to the caller, whatever it is
            self._error = error
        finally:
            self._settled.set()

    def wait(self) -> T:
        """Wait for the work in the caller's thread; returns its result or raises what it raised."""
        self._settled.wait()
        if self._error is None:
            return self._results[0]
        try:
            raise self._error
        finally:
            self._error = None  # it holds this frame, and would keep all alive that the frame holds


def _start(target: Callable[[], None]) -> None:
    for size in _STACK_SIZES:
        with _lock:
            size_before = threading.stack_size(size)
            try:
                # A daemon, so that Ctrl-C in the waiting thread ends the process at once.
                threading.Thread(target=target, name="gbfix-deep-stack", daemon=True).start()
                return
            except RuntimeError:
                continue
            finally:
                threading.stack_size(size_before)
    raise GbfixError("cannot start a thread with a large stack; raise the memory limit of this process")


@contextmanager
def _raised_recursion_limit() -> Iterator[None]:
    global _running, _limit_before
    with _lock:
        if _running == 0:
            _limit_before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_limit_before, _RECURSION_LIMIT))
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                sys.setrecursionlimit(_limit_before)
