"""One check in a process of its own: reads the job, works on it, and tells of progress and of the verdict.

The other end is `pool`. Over the pipe go pairs: ("progress", (stage, done, total)), ("refused", text) when these
settings cannot be used on this machine, and ("verdict", Verdict).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection

from gbfix.engine.model import GbfixError
from gbfix.equivalence.model import Job, Settings, Status, Verdict
from gbfix.equivalence.processes import end_descendants

Progress = Callable[[str, int, int], None]


def main() -> None:
    """Work on the job that standard input brings.

    Arguments: the work ("module:function"), the pipe's descriptor, and the folder of all temporary files.
    """
    work, descriptor, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    job: Job = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_command, args=(folder,), daemon=True).start()
    # Versions of the user's program are forked off: they must neither write here nor keep the pipe open.
    os.register_at_fork(after_in_child=lambda: _close(descriptor))
    line = Connection(descriptor, readable=False)
    refusal = _refusal(job.settings)
    if refusal:
        line.send(("refused", refusal))
        return
    line.send(("verdict", _verdict(work, job, lambda *told: line.send(("progress", told)))))


def not_tested(job: Job, reason: str) -> Verdict:
    """The verdict on a job that could not be worked on. reason: one line."""
    settings = job.settings
    return Verdict(
        job.target.name,
        Status.NOT_TESTED,
        reason,
        fixes=job.fixes,
        backend=settings.backend,
        device=settings.device,
    )


def _verdict(work: str, job: Job, progress: Progress) -> Verdict:
    module, _, name = work.partition(":")
    function: Callable[[Job, Progress], Verdict] = getattr(importlib.import_module(module), name)
    try:
        return function(job, progress)
    except GbfixError as error:
        return not_tested(job, " ".join(str(error).split()))
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(f"{type(error).__name__}: {error}".split())
        place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
        return not_tested(job, f"internal error in the check: {text} ({place}); please report")


def _refusal(settings: Settings) -> str:
    """Why nothing can be checked with these settings here, empty when it can."""
    if not settings.device.startswith("cuda"):
        return ""
    import torch

    if not torch.cuda.is_available():
        return "--device cuda: PyTorch finds no CUDA device here; leave the option out, or run where there is one"
    _, _, index = settings.device.partition(":")
    if index and int(index) >= torch.cuda.device_count():
        return f"--device {settings.device}: PyTorch finds {torch.cuda.device_count()} CUDA devices, from cuda:0 on"
    return ""


def _end_with_the_command(folder: str) -> None:
    """Standard input ends when the command is gone, however that came: then so is everything of this check."""
    while os.read(0, 1):  # not through sys.stdin, whose lock would be held when Python shuts down
        pass
    end_descendants(os.getpid())
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # a fork of a fork has it closed already
        os.close(descriptor)
