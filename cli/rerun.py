"""Running the user's command once more, with other texts in place of some files and its output kept back."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from gbfix.engine.atomic import Rewrite
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import GbfixError
from gbfix.evidence.copies import of_originals
from gbfix.evidence.launch import observed_environment
from gbfix.evidence.model import Evidence
from gbfix.evidence.overlay import MANIFEST, overlay_folder, write_overlay
from gbfix.evidence.reader import journal_notes, read_evidence


@dataclass(frozen=True)
class Rerun:
    """A run that is over. status: as a shell gives it, None when there was no time left.

    evidence: about the texts that were run, under the names of the files that they stood in for. copies: by original,
    where the texts lay during the run, which may show in what the program wrote.
    """

    status: int | None
    output: bytes
    errors: bytes
    seconds: float
    evidence: Evidence
    copies: Mapping[Path, Path]

    @property
    def text(self) -> str:
        """All that the program wrote."""
        return (self.output + self.errors).decode(errors="replace")


def rerun(
    command: Sequence[str],
    root: Path,
    rewrites: Sequence[Rewrite],
    *,
    folder: Path | None = None,
    values: bool = True,
    seconds: float | None = None,
    modules: Path | None = None,
    compiled: bool = True,
) -> Rerun:
    """Run a command with copies in place of files, observed as by `gbfix trace`, and end what is left of it.

    root: of the project. rewrites: the files, as they are and as the program shall find them; none is touched. folder:
    where the command runs. values: observe the values of names, too. modules: a folder for the modules that it
    compiles. compiled: False to run without torch.compile. Raises GbfixError when it cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="gbfix-run-", ignore_cleanup_errors=True) as name:
        work = Path(os.path.realpath(name))
        copies = write_overlay(work, rewrites).copies
        journals = work / "journals"
        journals.mkdir()
        overlay = overlay_folder(work) / MANIFEST if copies else None
        environment = observed_environment(
            os.environ, journals=journals, overlay=overlay, values=values, modules=modules
        )
        if not compiled:
            environment = {**environment, "TORCHDYNAMO_DISABLE": "1"}
        started = time.monotonic()
        status, output, errors = _run(command, environment, folder, work, seconds)
        passed = time.monotonic() - started
        notes = of_originals(journal_notes(journals), copies)
        evidence = read_evidence(notes, root=root, command=command, exit_status=status, copies=copies)
    return Rerun(status, output, errors, passed, evidence, copies)


def _run(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None, work: Path, seconds: float | None
) -> tuple[int | None, bytes, bytes]:
    with (work / "output").open("w+b") as output, (work / "errors").open("w+b") as errors:
        try:
            child = subprocess.Popen(
                command,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise GbfixError(f"{command[0]}: cannot be started: {error.strerror or error}") from error
        with _ended(child):
            try:
                code: int | None = child.wait(seconds)
            except subprocess.TimeoutExpired:
                code = None
        return (128 - code if code is not None and code < 0 else code), _all_of(output), _all_of(errors)


@contextmanager
def _ended(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Whatever happens, the command and what it started do not outlive this."""
    try:
        yield
    finally:
        if child.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
            child.wait()


def _all_of(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
