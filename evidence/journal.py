"""The notes that an observed process takes: one JSON object per line, one file per process.

A line is written at once, so that a killed process leaves everything it saw. Each has a "kind"; `KINDS` lists them.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SUFFIX = ".jsonl"
_FIRST_DESCRIPTOR = 200
_LONE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

KINDS = {
    "process": "first: pid, rank (int or None), argv (list, the whole command line), cwd, python (version); again when "
    "the process replaced itself by another program (exec)",
    "torch": "once torch is imported, and again when it first compiles, the last one counts: version; settings (dict: "
    "the Dynamo settings that differ from their defaults, and the environment variables TORCH*)",
    "entry": "the program gave a function to torch.compile (not: PyTorch on its own account): entry (id), file and "
    "line (of the compile call), function (qualified name), function_file, function_line (None for what is no Python "
    "function), backend (text), fullgraph (bool), dynamic (text); a forked child repeats the line; of more than 64 "
    "entries with one compile call and function the rest share the id of the last",
    "call": "a compiled entry was called with facts that no recorded call before it had; of an entry the first 32 "
    "calls are recorded, and later ones that compiled something: entry, call (1-based), arguments (name -> value "
    "description, see describe; 'args[0]' for what *args takes or has no name; 'self' of a module has, next to "
    "training, an item parameters: a tuple of the distinct texts of dtype, device and 'requires_grad')",
    "module": "the module of an entry was saved before its first call: entry, path",
    "calls": "now and then, and at the end; the last one counts: entry, count (all calls made, also inside another "
    "entry's), arguments (call number of a 'call' line, as text -> how many recorded calls had its facts)",
    "integers": "where modules are saved, of the first calls with the facts of a 'call' line: entry, call (of that "
    "line), elements (path of a small integer tensor -> its elements)",
    "trace": "a record of Dynamo's structured trace: metadata (dict), payload (str or None), entry and call (the "
    "outermost compiled call it happened in, or None); which records: see trace_records",
    "span": "where the next graph break of this process is: frame_id, frame_compile_id, file, line, column, end_line, "
    "end_column (0-based columns in characters, the end exclusive; None when unknown)",
    "window": "calls after warm-up that were counted: calls (entry id as text -> number of calls), regions (compile id "
    'such as "3/0" -> {hits, seconds}, seconds without those of regions called from it), compiled (bool: something '
    "was compiled meanwhile, since the entry never came to rest)",
    "observation": "what names held when a line ran: id, file, line, function, how (traced, resumed or eager), "
    "grad_enabled, values (name or dotted path -> value description), aliases (list of lists of names of one object "
    "or storage), unguarded (names whose facts no guard holds, see analysis.observations), in_block (of traced ones)",
    "observed": "at the end, and now and then: id, count (how often exactly this was seen so far; the last one counts)",
    "unwatched": "a line whose later runs were not observed: file, line, reason",
    "settled": "a line whose first runs showed nothing new in the end, so that later ones were not observed: file, "
    "line, runs",
    "change": "a traced frame changes something that outlives it: file and line (of its function), function, change, "
    "raises (whether its graph holds a check that raises)",
    "reached": "a line before which more may have happened in its compiled call than was traced: file, line, how "
    "(behind: after something that lasts, or maybe; in Python: called by a function that Dynamo gave up)",
    "looked": "at the end: every traced frame was looked at for changes",
    "overlay": "a rewritten file was loaded in place of its original: original, replacement",
    "problem": "something that gbfix could not do in this process: message",
    "end": "the interpreter shut down in order",
}
"""What each kind of line says, besides "kind"."""


class Journal:
    """Appends to the notes of this process; safe to use from several threads, signal handlers and forked children."""

    def __init__(self, path: Path) -> None:
        """Open the file for appending. Raises OSError."""
        self.path = path
        # A signal handler of the program may compile something while this thread writes a note: hence re-entrant.
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._file = _File(path)
        self._headers: list[dict[str, object]] = []
        if hasattr(os, "register_at_fork"):  # a lock held by another thread would stay locked in the child
            os.register_at_fork(
                before=self._lock.acquire,
                after_in_parent=self._lock.release,
                after_in_child=self._lock.release,
            )

    @property
    def inherited(self) -> bool:
        """True in a forked child that has written nothing yet: the open file is still its parent's."""
        return os.getpid() != self._pid

    def write(self, kind: str, **fields: object) -> None:
        """Add one line; a forked child that inherited the file starts one of its own, with the same headers.

        Values that JSON does not know are written as their text. A full disk, a closed file or fields that cannot be
        written lose the line and nothing else: notes must never break the program they are about.
        """
        try:
            with self._lock:
                if self.inherited:
                    self._begin_again()
                self._append({"kind": kind, **fields})
        except (OSError, ValueError, TypeError, RecursionError):
            return

    def write_header(self, kind: str, **fields: object) -> None:
        """Like `write`; each forked child repeats the line at the top of its own file, with its own "pid"."""
        with self._lock:
            self.write(kind, **fields)
            self._headers.append({"kind": kind, **fields})

    def _begin_again(self) -> None:
        pid = os.getpid()
        parents, self._file = self._file, _File(self.path.with_name(f"{pid}{SUFFIX}"))
        self._pid = pid
        parents.close()
        for header in self._headers:
            self._append({**header, "pid": self._pid} if "pid" in header else header)

    def _append(self, note: dict[str, object]) -> None:
        self._file.write((json.dumps(note, default=str, ensure_ascii=True) + "\n").encode())


class _File:
    """A file to append to by a descriptor of its own, out of the way of those of the program.

    Python's file objects close their descriptor when they go. By then it may be that of another file: programs that
    become daemons close all descriptors, ours too, and open files of their own under the same numbers.
    """

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self._path = path
        self._open()

    def write(self, data: bytes) -> None:
        """Append to the file and to no other. Raises OSError."""
        if not self._is_ours():
            self._open()
        os.write(self._descriptor, data)

    def close(self) -> None:
        """Give the descriptor back, if it is still that of the file."""
        if self._is_ours():
            os.close(self._descriptor)

    def _open(self) -> None:
        self._descriptor = _high(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666))
        self._identity = _identity(self._descriptor)

    def _is_ours(self) -> bool:
        try:
            return _identity(self._descriptor) == self._identity
        except OSError:
            return False


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _high(descriptor: int) -> int:
    """The same file under a number that programs do not count on: not 0 to 2 where those are closed, nor the next."""
    if sys.platform == "win32":
        return descriptor
    import fcntl

    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR)
    except OSError:  # as many may not be open
        return os.dup(descriptor)
    finally:
        os.close(descriptor)


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of one process in order; a last line that was cut off is left out. Raises OSError."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                note = json.loads(line)
                if _LONE_SURROGATE.search(line):  # a value that is no text in any encoding, as evidence must be
                    text = json.dumps(note, ensure_ascii=False)
                    note = json.loads(re.sub("[\ud800-\udfff]", _spelt_out, text))
            except (ValueError, RecursionError):
                continue
            if isinstance(note, dict) and note.get("kind") in KINDS:
                yield note


def _spelt_out(surrogate: re.Match[str]) -> str:
    """The escape of a character, as text in JSON."""
    return f"\\\\u{ord(surrogate[0]):04x}"
