"""gbfix in a process that ends, or is disturbed, at a chosen moment of its work on the disk.

A moment is a call that changes what is on the disk, taken from the audit events of Python; see "Audit events table" in
its documentation. `os.fsync` has none, and is what stands between a file that is written and one that is in its place.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cli_project import SAFE, Done
from typer.testing import CliRunner

from gbfix.cli.application import app
from gbfix.cli.main import main

CliRunner().invoke(app, ["apply", "-"], input=SAFE)  # loads once what the processes need

_CHANGES = {"os.rename", "os.mkdir", "os.chmod", "os.chown", "os.remove", "os.rmdir", "os.link", "os.truncate"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass
class Moments:
    """Acts before each call that changes the disk, told its number from zero, its audit event and its arguments."""

    action: Callable[[int, str, tuple[object, ...]], None]
    number: int = 0
    _acting: bool = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._acting and _changes_the_disk(event, arguments):
            self._acting = True
            try:
                self.action(self.number, event, arguments)
            finally:
                self._acting = False
            self.number += 1


def before(number: int, action: Callable[[], None]) -> Moments:
    """Acts before the call with this number alone."""
    return Moments(lambda reached, _event, _arguments: action() if reached == number else None)


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def gbfix(
    folder: Path,
    *words: str,
    moments: Moments | None = None,
    first: Callable[[], None] = lambda: None,
    output: str = "output",
) -> Done:
    """Run the command in a forked process that these moments disturb; the status is negative for a signal.

    first: what the process does before all else. output: a name for the folder of what it prints.
    """
    written = folder.parent / output
    written.mkdir(exist_ok=True)
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.chdir(folder)
            for number, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(written / name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
            sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
            first()
            status = _status_of(words, moments)
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    out, err = ((written / name).read_bytes().decode() for name in ("out", "err"))
    return Done(code, out, err)


def _status_of(words: tuple[str, ...], moments: Moments | None) -> int:
    sys.argv = ["gbfix", *words]
    if moments is not None:
        sync = os.fsync

        def audited(descriptor: int) -> None:
            moments("os.fsync", (descriptor,))
            sync(descriptor)

        os.fsync = audited
        sys.addaudithook(moments)
    try:
        main()
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 0
    return 0


def _changes_the_disk(event: str, arguments: tuple[object, ...]) -> bool:
    if event == "open":
        flags = arguments[2]
        return isinstance(flags, int) and bool(flags & _WRITING) and arguments[0] not in ("/dev/null", 1, 2)
    return event in _CHANGES or event == "os.fsync"
