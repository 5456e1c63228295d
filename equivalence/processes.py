"""Ending a process together with all that it started, also what left its process group."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

_PROCESSES = Path("/proc")
"""Of Linux. Elsewhere only the process group is found; the versions of a program end with their host by themselves."""


def end_descendants(pid: int) -> None:
    """Kill the children of a process and theirs, but not itself.

    To be called while the process is still there: what it leaves behind gets another parent.
    """
    for child in list(_descendants(pid)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)


def _descendants(pid: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for entry in _PROCESSES.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            # "pid (name) state parent ...", proc_pid_stat(5); the name may hold anything
            parent = int(entry.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.parent.name))
    waiting = [pid]
    while waiting:
        found = children.get(waiting.pop(), [])
        yield from found
        waiting += found
