"""The program that `gbfix fix` fixes: run again and again with other texts, within the time that there is."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from pathlib import Path

from gbfix.cli.apply_trial import last_line
from gbfix.cli.fix_texts import Texts
from gbfix.cli.rerun import Rerun, rerun
from gbfix.engine.data_folder import data_folder
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import GbfixError, WriteError
from gbfix.engine.paths import printable

_MODULES = "modules"
_SLOWER = 10
_LEAST_SECONDS = 120.0
"""A run with fixes may take this long, or so many times as long as the first one."""


class Steps:
    """Told what is done at the moment; shows nothing."""

    def say(self, text: str) -> None:
        """Something was found out."""

    def doing(self, _text: str) -> AbstractContextManager[object]:
        """Something that takes its time."""
        return nullcontext()


@dataclass
class Program:
    """A command in a project. limit: seconds for all that is done with it, None for no limit."""

    command: Sequence[str]
    root: Path
    steps: Steps
    limit: float | None = None
    _started: float = field(default_factory=time.monotonic)
    _first: float | None = None

    def first_run(self, texts: Texts) -> Rerun:
        """The run that all others are compared with. Raises GbfixError when it compiles nothing or takes too long."""
        with self.steps.doing("running the program"):
            run = rerun(self.command, self.root, texts.rewrites(), seconds=self._left(), modules=self._modules_folder())
        self._first = run.seconds
        if run.status is None:
            raise GbfixError(f"the program was not done after {self.limit:.0f} seconds; --time-limit gives it more")
        told = f" (it ended with status {run.status}: {last_line(run.text)})" if run.status else ""
        if not any(process.torch for process in run.evidence.processes):
            raise GbfixError(f"the program never loaded PyTorch, so there is nothing to fix{told}")
        if not run.evidence.entries:
            raise GbfixError(f"the program compiled nothing with torch.compile, so there is nothing to fix{told}")
        return run

    def run(self, texts: Texts, what: str, *, compiled: bool = True) -> Rerun:
        """A run with these texts in place of the files; `what` says so to the user. compiled: as by `rerun`."""
        usual = max((self._first or 0.0) * _SLOWER, _LEAST_SECONDS)
        left = self._left()
        seconds = usual if left is None else max(min(usual, left), 1.0)
        with self.steps.doing(what):
            return rerun(self.command, self.root, texts.rewrites(), seconds=seconds, compiled=compiled)

    def forget_modules(self) -> None:
        """Remove the modules that the first run saved, which only checks need."""
        shutil.rmtree(data_folder(self.root) / _MODULES, ignore_errors=True)

    def _modules_folder(self) -> Path:
        self.forget_modules()
        folder = data_folder(self.root) / _MODULES
        try:
            folder.mkdir()
        except OSError as error:
            raise WriteError(f"{printable(folder)}: cannot be made: {error.strerror}") from error
        return folder

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._started

    @property
    def is_over(self) -> bool:
        """True when no time is left."""
        left = self._left()
        return left is not None and left <= 0

    def _left(self) -> float | None:
        return None if self.limit is None else self.limit - self.passed
