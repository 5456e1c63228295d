"""Progress of long work: a line on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_WORTH_SHOWING = 20


@contextmanager
def progress(total: int, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Gives a function that is told the name of each file in its turn. The line vanishes at the end."""
    if quiet or total < _WORTH_SHOWING or not sys.stderr.isatty():
        yield lambda _name: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=total)

        def advance(name: str) -> None:
            bar.update(task, advance=1, description=escape(name))

        yield advance
