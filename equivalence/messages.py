"""Recording what a person sees of a call: printed text, log records and warnings, in the order in which they came.

Streams are replaced by real text streams over a sink of ours, so that code (and Dynamo) sees the classes it is used
to. Log records are taken where a logger hands them to its handlers, which also reaches loggers that do not propagate;
what handlers then write to the standard streams is left out, since it holds times and line numbers, and the record is
known already. Records of torch and filelock, and warnings raised inside torch, are not the program's and are left out.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import torch

from gbfix.equivalence.model import Event
from gbfix.equivalence.steady_text import steady

_TORCH = str(Path(torch.__file__).parent) + os.sep
_OTHERS = ("torch", "filelock")
_FROM_TORCH_CODE = "(Triggered internally at"  # C++ warnings: torch shows each once in a process, attributed to anyone.


@dataclass
class Recorder:
    """What was recorded so far: kind, name, and text or bytes."""

    rows: list[tuple[str, str, str | bytes]] = field(default_factory=list)
    muted: int = 0

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing in the block."""
        self.muted += 1
        try:
            yield
        finally:
            self.muted -= 1

    def wrote(self, kind: str, name: str, text: str | bytes) -> None:
        """Add one message, unless it is paused (a log handler is at work)."""
        if not self.muted:
            self.rows.append((kind, name, text))

    def events(self) -> tuple[Event, ...]:
        """All messages in order; adjacent writes to one stream are one message, empty ones none."""
        merged: list[tuple[str, str, str | bytes]] = []
        for kind, name, text in self.rows:
            if isinstance(text, bytes) and merged and merged[-1][:2] == (kind, name):
                merged[-1] = (kind, name, _joined(merged[-1][2], text))
            else:
                merged.append((kind, name, text))
        return tuple(Event(kind, steady(_text(text)), name) for kind, name, text in merged if text or name)


def _joined(first: str | bytes, second: bytes) -> bytes:
    return (first.encode() if isinstance(first, str) else first) + second


def _text(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    lines = text.decode("utf-8", "backslashreplace").split("\n")
    # A progress bar writes a line over and over: what stays is the last.
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in lines)


@contextlib.contextmanager
def recorded(*, descriptors: bool = True) -> Iterator[Recorder]:
    """Record everything until the end of the block, then put streams, handlers and filters back, whatever happens.

    descriptors: also what is written to the file descriptors 1 and 2 below Python (os.write, C code); it is added at
    the end, with the name "fd", since nothing tells when it came.
    """
    recorder = Recorder()
    _forget_what_was_said()
    with contextlib.ExitStack() as stack:
        if descriptors:
            stack.enter_context(_descriptors(recorder))
        stack.enter_context(_handlers_of_streams_muted())
        stack.enter_context(_streams(recorder))
        stack.enter_context(_records(recorder))
        stack.enter_context(_warnings(recorder))
        yield recorder


def _forget_what_was_said() -> None:
    """Let methods of loggers that say a text once in a process say it again, as transformers' `warning_once` does.

    They are shared by all versions and modes of a program: what one of them said, the next would be silent about.
    """
    for method in vars(logging.Logger).values():
        forget = getattr(method, "cache_clear", None)
        if callable(forget):
            forget()


def _unseen_by_dynamo(function: Callable[..., Any]) -> Callable[..., Any]:
    """Called from compiled code, Dynamo must not trace what records (importing Dynamo for that would be slow)."""
    dynamo = sys.modules.get("torch._dynamo")
    return function if dynamo is None else dynamo.disable(function)


class _Sink(io.RawIOBase):
    def __init__(self, write: Callable[[bytes], None], descriptor: int) -> None:
        self._write = write
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any, /) -> int:  # noqa: ANN401  (any buffer of bytes)
        self._write(bytes(data))
        return len(data)


@contextlib.contextmanager
def _streams(recorder: Recorder) -> Iterator[None]:
    before = sys.stdout, sys.stderr

    def stream(kind: str, descriptor: int, errors: str) -> TextIO:
        write = _unseen_by_dynamo(lambda data: recorder.wrote(kind, "", data))
        sink: Any = _Sink(write, descriptor)
        return io.TextIOWrapper(sink, encoding="utf-8", errors=errors, newline="", write_through=True)

    sys.stdout, sys.stderr = stream("stdout", 1, "surrogateescape"), stream("stderr", 2, "backslashreplace")
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextlib.contextmanager
def _handlers_of_streams_muted() -> Iterator[None]:
    """Log handlers that hold one of the standard streams write nowhere meanwhile."""
    changed: list[tuple[Any, Any]] = []
    for reference in list(getattr(logging, "_handlerList", [])):
        handler = reference() if callable(reference) else reference
        # The handler of last resort looks its stream up at every record.
        if isinstance(handler, logging.StreamHandler) and "stream" in vars(handler):
            stream = handler.stream
            if _is_standard(stream):
                changed.append((handler, stream))
                handler.stream = _Nowhere()
    try:
        yield
    finally:
        for handler, stream in changed:
            if isinstance(handler.stream, _Nowhere):
                handler.stream = stream


def _is_standard(stream: Any) -> bool:  # noqa: ANN401
    """It is, or writes to, standard output or error: the stream of a handler may be one from before a redirection."""
    if any(stream is one for one in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)):
        return stream is not None
    try:
        return stream.fileno() in (1, 2)
    except Exception:  # no file, closed, or no stream at all
        return False


class _Nowhere(io.StringIO):
    def write(self, text: str, /) -> int:
        return len(text)


@contextlib.contextmanager
def _records(recorder: Recorder) -> Iterator[None]:
    root = logging.getLogger()
    level, hand_over = root.level, logging.Logger.callHandlers

    def record_it(self: logging.Logger, record: logging.LogRecord) -> None:
        if record.name.split(".")[0] not in _OTHERS:
            recorder.wrote("log", f"{record.name} {record.levelname}", _record_text(record))
        with recorder.paused():
            hand_over(self, record)

    replacement: Any = _unseen_by_dynamo(record_it)
    logging.Logger.callHandlers = replacement  # type: ignore[method-assign]
    root.setLevel(1)
    try:
        yield
    finally:
        logging.Logger.callHandlers = hand_over  # type: ignore[method-assign]
        if root.level == 1:
            root.setLevel(level)


def _record_text(record: logging.LogRecord) -> str:
    try:
        text = record.getMessage()
    except Exception as error:  # Wrong arguments for the format: logging shows this on stderr, and goes on.
        text = f"{record.msg!r} % {type(record.args).__name__}: {type(error).__name__}"
    if record.exc_info and record.exc_info[0] is not None:
        text += f" [{record.exc_info[0].__name__}: {record.exc_info[1]}]"
    return text


@contextlib.contextmanager
def _warnings(recorder: Recorder) -> Iterator[None]:
    def show(
        message: Warning | str, category: type[Warning], filename: str, _line: int, *_file_and_text: object
    ) -> None:
        text = str(message)
        if not (filename or "").startswith(_TORCH) and _FROM_TORCH_CODE not in text:
            recorder.wrote("warning", category.__name__, text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        replacement: Any = _unseen_by_dynamo(show)
        warnings.showwarning = replacement
        yield


@contextlib.contextmanager
def _descriptors(recorder: Recorder) -> Iterator[None]:
    _flush()
    saved = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            yield
        finally:
            _flush()  # What went to a stream that the program kept (`from sys import stdout`) is in its buffer still.
            for descriptor, copy in zip((1, 2), saved, strict=True):
                os.dup2(copy, descriptor)
                os.close(copy)
            for kind, file in (("stdout", out), ("stderr", err)):
                file.seek(0)
                if data := file.read():
                    recorder.rows.append((kind, "fd", data))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            stream.flush()  # type: ignore[union-attr]
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).fflush(None)
