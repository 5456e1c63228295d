"""The process of a version: cut off from the terminal and the other versions, it answers one request after another."""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import io
import logging
import multiprocessing.process
import os
import pickle
import resource
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from gbfix.equivalence.line import Line, LineError
from gbfix.equivalence.model import CheckError, Observation
from gbfix.equivalence.program import Program, Version
from gbfix.equivalence.stopwatch import BenchRequest, Stopwatch

ALIVE, ANSWER, REFUSED, ENDED = "alive", "answer", "refused", "ended"
"""Kinds of messages to the host: a call begins; what was asked for; a CheckError; the version cannot go on."""

LAST_WORDS = "last_words"
"""A file in the temporary folder: why the process ended, where it knew."""
OUT_OF_MEMORY = "out of memory"
LARGEST_ANSWER = 1 << 30
"""Bytes."""

_OUT_OF_MEMORY_TEXTS = ("can't allocate memory", "not enough memory", "out of memory")


def serve(end: socket.socket, mark: bytes, version: Version, folder: str, others: Sequence[int]) -> None:
    """Load a version and answer requests until the host closes the line. Never returns.

    folder: a temporary one, for output and compile caches. others: descriptors of the host's lines to
    other versions.
    """
    status = 1
    try:
        line = Line(end, mark)
        _isolate(version, folder, others)
        line.move_up()
        _Server(line, version).run()
        status = 0
    except BaseException as error:  # which the host reports, if it is there to do so
        how = str(error) if isinstance(error, LineError) else f"failed with {type(error).__name__}: {error}"
        with contextlib.suppress(OSError):
            Path(folder, LAST_WORDS).write_text(how)
    finally:
        os._exit(status)


class _Server:
    """Requests are (name, arguments), answers (kind, value)."""

    def __init__(self, line: Line, version: Version) -> None:
        self._line = line
        self._pid = os.getpid()
        self._version = version
        self._program: Program | None = None
        self._stopwatch: Stopwatch | None = None
        self._answers: dict[str, Callable[..., Any]] = {
            "setup": lambda: self._loaded().setup(),
            "observe": lambda example: self._loaded().observe(example),
            "counts": lambda examples: self._loaded().counts(examples),
            "bench": self._time,
        }

    def run(self) -> None:
        """Load, then answer. Returns never; raises LineError when the host is gone."""
        while True:
            request = self._line.receive()
            name, arguments = pickle.loads(request)
            kind, value = self._answer(name, arguments)
            self._send(kind, value)

    def _answer(self, name: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
        try:
            value = self._answers[name](*arguments)
        except CheckError as error:
            return REFUSED, str(error)
        except MemoryError:
            return ENDED, OUT_OF_MEMORY
        except KeyboardInterrupt:
            return ENDED, "raised KeyboardInterrupt"
        except (Exception, SystemExit) as error:
            if isinstance(error, OSError) and error.errno == errno.EBADF:
                return ENDED, "closed file descriptors that gbfix uses"
            if _is_out_of_memory(type(error).__name__, str(error)):
                return ENDED, OUT_OF_MEMORY
            text = " ".join(str(error).split())
            return REFUSED, f"{self._version.target.name}: {name} failed with {type(error).__name__}: {text}"
        if isinstance(value, Observation) and _ran_out_of_memory(value):
            return ENDED, OUT_OF_MEMORY
        return ANSWER, value

    def _send(self, kind: str, value: Any) -> None:  # noqa: ANN401
        if os.getpid() != self._pid:
            os._exit(0)  # a child that the program forked and that returned from the call
        try:
            message = pickle.dumps((kind, value))
        except Exception as error:
            message = pickle.dumps((REFUSED, f"what the call showed cannot be sent: {type(error).__name__}: {error}"))
        if len(message) > LARGEST_ANSWER:
            message = pickle.dumps((REFUSED, f"what the call showed is too large: {len(message)} bytes"))
        self._line.send(message)

    def _time(self, request: BenchRequest) -> object:
        program, settings = self._loaded(), self._version.settings
        if self._stopwatch is None:
            self._stopwatch = Stopwatch(program.called_for, program.arguments, settings.device)
        return self._stopwatch.answer(request)

    def _loaded(self) -> Program:
        if self._program is None:
            self._program = Program(self._version, lambda: self._send(ALIVE, None))
        return self._program


def _is_out_of_memory(name: str, text: str) -> bool:
    if name.rpartition(".")[2] in ("MemoryError", "OutOfMemoryError"):
        return True
    return name.rpartition(".")[2] == "RuntimeError" and any(part in text for part in _OUT_OF_MEMORY_TEXTS)


def _ran_out_of_memory(observation: Observation) -> bool:
    calls = [observation] if observation.again is None else [observation, observation.again]
    raised = [error for call in calls for error in (call.raised, call.backward_raised) if error is not None]
    return any(_is_out_of_memory(error.type, error.text) for error in raised)


# -- the process ---------------------------------------------------------------------------------


def _isolate(version: Version, folder: str, others: Sequence[int]) -> None:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGPIPE else signal.SIG_DFL)
    for descriptor in others:
        _close(descriptor)
    _redirect(folder)
    faulthandler.disable()
    logging.root.handlers.clear()
    warnings.resetwarnings()
    _set_environment(folder)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if version.settings.memory:
        resource.setrlimit(resource.RLIMIT_AS, (version.settings.memory, version.settings.memory))
    torch.set_num_threads(1)
    # The host's own bookkeeping has this process as a daemon, which may not have children; the program may.
    multiprocessing.process.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    sys.argv = [version.target.file]
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _redirect(folder: str) -> None:
    """Input is empty; output goes to a file, also what was buffered for the host's own output."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(str(Path(folder, "output")), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    for source, number in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, number)
    _close(nothing)
    _close(output)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _writer(1)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _writer(2)  # type: ignore[misc]


def _writer(number: int) -> io.TextIOWrapper:
    raw = io.FileIO(number, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True)


def _set_environment(folder: str) -> None:
    for name in [name for name in os.environ if name.startswith("GBFIX_")]:
        del os.environ[name]
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no pool of compiler processes, which would outlive a kill
    config = sys.modules.get("torch._inductor.config")
    if config is not None:  # which has read the environment
        config.compile_threads = 1  # type: ignore[attr-defined]


def _close(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        return


def _end_with(parent: int) -> None:
    """A host that was killed cannot end this process, and a call that hangs never looks at the line."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
