"""Progress of checks: a bar for each one that runs, on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gbfix.equivalence.model import Verdict


class CheckProgress:
    """Nothing to see."""

    def advance(self, number: int, stage: str, done: int, total: int) -> None:
        """Check `number` is at this stage; total: 0 when it is not known."""

    def done(self, number: int, verdict: Verdict) -> None:
        """Check `number` has ended."""


class _Bars(CheckProgress):
    def __init__(self, bars: Any, names: Sequence[str]) -> None:  # noqa: ANN401 (rich is slow to load)
        self._bars = bars
        self._names = names
        self._tasks: dict[int, Any] = {}
        self._all = bars.add_task("targets", total=len(names), stage="")

    def advance(self, number: int, stage: str, done: int, total: int) -> None:
        if number not in self._tasks:
            self._tasks[number] = self._bars.add_task(self._names[number], total=total or None, stage=stage)
        self._bars.update(self._tasks[number], completed=done, total=total or None, stage=stage)

    def done(self, number: int, verdict: Verdict) -> None:
        if number in self._tasks:
            self._bars.remove_task(self._tasks.pop(number))
        self._bars.update(self._all, advance=1, stage=f"{verdict.target}: {verdict.status.value}")


@contextmanager
def check_progress(names: Sequence[str]) -> Iterator[CheckProgress]:
    """Bars for these checks; they vanish at the end."""
    if not sys.stderr.isatty():
        yield CheckProgress()
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[stage]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bars(bars, [escape(name) for name in names])
