"""Starting and ending the process of a version, and how it came to its end."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

from gbfix.equivalence.line import Line
from gbfix.equivalence.program import Version
from gbfix.equivalence.serving import LAST_WORDS, serve
from gbfix.evidence.launch import signal_name

_LAST_WORDS_SECONDS = 2.0
"""How long an ended process has for its exit status to be seen."""


def start_method(device: str) -> str:
    """How multiprocessing starts a version, which has to be fast and to leave the host's threads and devices behind.

    CUDA cannot be used in a fork of a process that has so much as asked how many devices there are, so that for it a
    process forks that did nothing but import.
    """
    if sys.platform != "linux":
        return "spawn"
    return "forkserver" if device.startswith("cuda") else "fork"


def start_version(end: socket.socket, mark: bytes, version: Version, folder: str, lines: Sequence[int]) -> BaseProcess:
    """Start serving a version on one end of a line. folder: a temporary one. lines: descriptors of the host's ends."""
    method = start_method(version.settings.device)
    context: Any = multiprocessing.get_context(method)
    if method == "fork":
        torch._dynamo.lookup_backend("eager")  # imports what every compiled version needs, once for all of them
    else:  # sets are ordered alike in all versions, which a fork does anyway
        os.environ.setdefault("PYTHONHASHSEED", "0")
    if method == "forkserver":
        context.set_forkserver_preload(["gbfix.equivalence.serving"])
    arguments = (end, mark, version, folder, lines if method == "fork" else ())
    process: BaseProcess = context.Process(target=serve, args=arguments, daemon=True)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    process.start()
    return process


def end_version(process: BaseProcess, line: Line, folder: str) -> None:
    """End a process with all that it started in its session, and remove its folder."""
    line.close()
    if process.pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            process.kill()
    process.join(_LAST_WORDS_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)


def how_it_ended(process: BaseProcess, folder: str, otherwise: str) -> str:
    """A clause such as "was killed by SIGSEGV". otherwise: what to say where nothing is known."""
    process.join(_LAST_WORDS_SECONDS)
    with suppress(OSError):
        return Path(folder, LAST_WORDS).read_text()
    status = process.exitcode
    if status is None:
        return otherwise
    if status == -signal.SIGKILL:
        return "was killed by SIGKILL, as the system does when memory runs out"
    if status < 0:
        return f"was killed by {signal_name(-status)}"
    return f"exited with status {status} (os._exit)"
