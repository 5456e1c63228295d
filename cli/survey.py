"""One look at every file: whether it can be read, and is Python.

No tree is made. Several processes share the files where there are many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gbfix.analysis.source import check_syntax
from gbfix.engine.deep import with_deep_stack
from gbfix.engine.files import read_source
from gbfix.engine.garbage import without_garbage_collection
from gbfix.engine.model import GbfixError

if TYPE_CHECKING:
    from concurrent.futures import Future

_CHUNK = 32  # files handed to a process at once
_WORTH_PROCESSES = 200  # files; starting a process takes as long as parsing some fifty
_MOST_JOBS = 8


def default_jobs() -> int:
    """The number of processors that this process may use, at most 8."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST_JOBS)


def survey(
    files: Sequence[tuple[str, str]],
    jobs: int,
    advance: Callable[[str], None],
    meanwhile: Callable[[], None] = lambda: None,
) -> list[str]:
    """Why each file cannot be looked at, "" when it can; files are given by path and name in messages.

    Where there are many, `jobs` processes look at them, and `meanwhile` is called when they have begun. `advance` is
    told each name in its turn. Raises GbfixError when one of the processes ends before its work is done.
    """
    if jobs < 2 or len(files) < _WORTH_PROCESSES:
        return with_deep_stack(lambda: list(_survey_here(files, advance)))
    # Slow to load, and few files need them.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    chunks = [files[start : start + _CHUNK] for start in range(0, len(files), _CHUNK)]
    try:
        # Not forked: threads of this process may hold locks, which would never be freed in a copy.
        with ProcessPoolExecutor(min(jobs, len(chunks)), get_context("spawn")) as pool:
            futures = [pool.submit(survey_chunk, chunk) for chunk in chunks]
            meanwhile()
            return list(_in_order(futures, chunks, advance))
    except BrokenProcessPool as error:
        problem = "a process that reads files ended before its work was done; free some memory, or give --jobs 1"
        raise GbfixError(problem) from error


def _in_order(
    futures: Iterable[Future[list[str]]], chunks: Iterable[Sequence[tuple[str, str]]], advance: Callable[[str], None]
) -> Iterator[str]:
    for chunk, future in zip(chunks, futures, strict=True):
        yield from future.result()
        for _, name in chunk:
            advance(name)


def survey_chunk(files: Sequence[tuple[str, str]]) -> list[str]:
    """Look at some files, given by path and name, in this process."""
    return with_deep_stack(lambda: list(_survey_here(files, lambda _name: None)))


def _survey_here(files: Iterable[tuple[str, str]], advance: Callable[[str], None]) -> Iterator[str]:
    with without_garbage_collection():
        for path, name in files:
            advance(name)
            yield _problem_of(Path(path), name)


def _problem_of(path: Path, name: str) -> str:
    try:
        check_syntax(name, read_source(path).text)
    except GbfixError as error:
        return str(error)
    return ""
