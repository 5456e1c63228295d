"""Work for the hosts of `equivalence.pool`, imported by them from here. A job says what to do in its `inputs`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from gbfix.equivalence.model import CheckError, Job, Status, Verdict

Progress = Callable[[str, int, int], None]


def work(job: Job, progress: Progress) -> Verdict:
    """Does what the first word of `job.inputs` says; the second word is a file to leave notes in."""
    what, _, notes = job.inputs.partition(" ")
    progress("working", 3, 10)
    if what == "fails":
        raise CheckError("model.py:3: something\nis wrong")
    if what == "bug":
        raise ZeroDivisionError("a bug")
    if what == "exits":
        os._exit(7)
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "hangs":
        _hang(notes)
    if what == "fork":
        _leave_a_fork()
    reason = f"torch imported: {'torch' in sys.modules}; path: {'' in sys.path}; cli imported: {'typer' in sys.modules}"
    return Verdict(job.target.name, Status.EQUAL, reason)


def _hang(notes: str) -> None:
    """With a fork that hangs as well, as a version of a program would."""
    child = os.fork()
    if child:
        with open(notes, "a") as stream:
            stream.write(f"{os.getpid()} {child}\n")
    else:
        os.setsid()  # as a version of a program does
    with tempfile.NamedTemporaryFile():
        while True:
            time.sleep(60)


def _leave_a_fork() -> None:
    if os.fork() == 0:
        subprocess.run(["sleep", "60"], check=False)
        os._exit(0)
    os._exit(9)
