"""Checks side by side, each in a host process of its own that can be ended with everything it started.

A host starts clean, without what this process has imported, and leads a process group of its own. It is killed when
its time is up and when the command ends, also by Ctrl-C; it ends itself when the command is killed (see `host`).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

from gbfix.equivalence.host import not_tested
from gbfix.equivalence.model import CheckError, Job, Verdict
from gbfix.equivalence.processes import end_descendants
from gbfix.evidence.launch import signal_name

CHECK = "gbfix.equivalence.work:work"
GRACE_SECONDS = 30.0
"""Beyond the limit of a job: to start, to notice the limit, and to finish in order."""

# The current folder must not stand in for installed modules.
_START = "import sys; sys.path[:] = [p for p in sys.path if p]; from gbfix.equivalence.host import main; main()"
_SECONDS_TO_END = 5.0
_WORDS_OF_AN_ERROR = 300

Advance = Callable[[int, str, int, int], None]
"""Told the job's number, what is being done, how much of it is done, and how much there is (0: not known)."""


def run_jobs(
    jobs: Sequence[Job],
    workers: int,
    advance: Advance = lambda _number, _stage, _done, _total: None,
    *,
    work: str = CHECK,
    grace: float = GRACE_SECONDS,
) -> Iterator[tuple[int, Verdict]]:
    """The verdict of each job with its number, in the order in which they end; `workers` hosts at a time.

    A host that dies or does not end in time gives "not tested" with the reason. work: "module:function" that takes a
    job and a progress function. Closing the iterator ends all hosts. Raises CheckError when nothing can be
    checked here (no CUDA device, no process can be started).
    """
    waiting = deque(enumerate(jobs))
    running: dict[Connection, _Host] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                number, job = waiting.popleft()
                host = _Host(number, job, work, grace, threads=_threads(min(workers, len(jobs))))
                running[host.line] = host
            soonest = min(host.deadline for host in running.values())
            ready = wait(list(running), timeout=max(soonest - time.monotonic(), 0))
            told = [running[line] for line in ready if isinstance(line, Connection)]
            late = [host for host in running.values() if host not in told and time.monotonic() >= host.deadline]
            for host in (*told, *late):
                verdict = host.give_up() if host in late else host.read(advance)
                if verdict is not None:
                    del running[host.line]
                    host.close()
                    yield host.number, verdict
    finally:
        for host in running.values():
            host.close()


def _threads(hosts: int) -> int:
    """For each version of a program, two of which work at the same time; 0 leaves it to PyTorch."""
    return max((os.cpu_count() or 1) // hosts // 2, 1) if hosts > 1 else 0


class _Host:
    """A host process, seen from the command."""

    def __init__(self, number: int, job: Job, work: str, grace: float, threads: int) -> None:
        self.number = number
        self._job = job
        self._stage = "starting"
        self.line, far_end = Pipe(duplex=False)
        # What it leaves there is removed, also when it is killed.
        self._folder = tempfile.TemporaryDirectory(prefix="gbfix-check-", ignore_cleanup_errors=True)
        self._errors = Path(self._folder.name, "errors")
        folder = self._folder.name
        # Hypothesis would make a folder of its own in the project.
        environment = {**os.environ, "TMPDIR": folder, "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(folder, "hypothesis"))}
        if threads:
            environment.setdefault("OMP_NUM_THREADS", str(threads))
        try:
            with self._errors.open("wb") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START, work, str(far_end.fileno()), folder],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    pass_fds=[far_end.fileno()],
                    env=environment,
                    start_new_session=True,
                )
        except OSError as error:
            raise CheckError(f"no process can be started for {job.target.name}: {error.strerror}") from error
        finally:
            far_end.close()
        self.deadline = time.monotonic() + job.settings.seconds + grace
        self._give_job()

    def _give_job(self) -> None:
        """Standard input stays open: its end tells the host that the command is gone."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(pickle.dumps(self._job))
            self._process.stdin.flush()
        except BrokenPipeError:
            return  # it died already, which reading from it will tell

    def read(self, advance: Advance) -> Verdict | None:
        """Take in one message; the verdict when it is that, or when the host is gone."""
        try:
            kind, content = self.line.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            return not_tested(self._job, f"its process {self._how_it_ended()} ({self._stage})")
        if kind == "refused":
            raise CheckError(content)
        if kind == "verdict":
            assert isinstance(content, Verdict)
            return content
        stage, done, total = content
        self._stage = f"{stage}, {done} of {total}" if total else stage
        advance(self.number, stage, done, total)
        return None

    def give_up(self) -> Verdict:
        """The verdict when the time is up."""
        advice = "--timeout SECONDS gives it more time"
        if self._stage.startswith("loading"):
            advice = f'put what the file runs when it is imported under if __name__ == "__main__", or {advice}'
        seconds = f"{self._job.settings.seconds:g} s"
        return not_tested(self._job, f"did not end within {seconds} ({self._stage}); {advice}")

    def close(self) -> None:
        """End the host and everything that it started, and wait for it."""
        if self._process.poll() is None:
            end_descendants(self._process.pid)
        # macOS says PermissionError of a group of zombies.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self.line.close()
        self._folder.cleanup()

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return "closed the line to gbfix"
        said = self._errors.read_text(errors="replace").strip().rpartition("\n")[2][:_WORDS_OF_AN_ERROR]
        doubt = " (out of memory?)" if code == -signal.SIGKILL else ""
        how = f"exited with status {code}" if code >= 0 else f"was killed by {signal_name(-code)}{doubt}"
        return f"{how}: {said}" if said else how
