"""Progress of `gbfix fix`: what was done and when, on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gbfix.cli.fix_program import Steps
from gbfix.cli.terminal import open_terminal


class ShownSteps(Steps):
    """A line for each step with the time since the beginning, and a clock while one is under way."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._out = open_terminal(sys.stderr)

    def say(self, text: str) -> None:
        """Write one line."""
        passed = int(time.monotonic() - self._started)
        self._out.line(self._out.paint(f"{passed // 60:3}:{passed % 60:02}  {text}", "dim"))
        self._out.stream.flush()

    @contextmanager
    def doing(self, text: str) -> Iterator[None]:
        """Write what begins, and let a clock run until it is done."""
        self.say(text)
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

        with Progress(SpinnerColumn(), TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
            progress.add_task("", total=None)
            yield


def steps() -> Steps:
    """What suits the standard error of this process."""
    return ShownSteps() if sys.stderr.isatty() else Steps()
