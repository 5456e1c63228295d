"""One look at every file: whether it can be read and parsed, and whether more has to be looked at.

Each file is parsed once and its tree thrown away. Several processes share the files where there are many.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gbfix.analysis.source import parse
from gbfix.analysis.spotted import may_compile
from gbfix.engine.dataclass import dataclass
from gbfix.engine.deep import with_deep_stack
from gbfix.engine.files import read_source
from gbfix.engine.garbage import without_garbage_collection
from gbfix.engine.model import GbfixError

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_CHUNK = 32  # files handed to a process at once
_WORTH_PROCESSES = 200  # files; starting a process takes as long as parsing some fifty
_MOST_JOBS = 8


@dataclass(frozen=True)
class Surveyed:
    """What one look at a file told.

    problem: why it cannot be looked at, "" when it can. compiles: its code mentions compiling. is_marked: it may have
    suppression comments.
    """

    problem: str = ""
    compiles: bool = False
    is_marked: bool = False


def default_jobs() -> int:
    """The number of processors that this process may use, at most 8."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST_JOBS)


def survey(files: Sequence[tuple[str, str]], jobs: int, advance: Callable[[str], None]) -> list[Surveyed]:
    """Look at files, given by path and name in messages, in `jobs` processes. `advance` is told each name in its turn.

    Raises GbfixError when one of the processes ends before its work is done.
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
            return list(_in_order(pool, chunks, advance))
    except BrokenProcessPool as error:
        problem = "a process that reads files ended before its work was done; free some memory, or give --jobs 1"
        raise GbfixError(problem) from error


def _in_order(
    pool: ProcessPoolExecutor, chunks: Iterable[Sequence[tuple[str, str]]], advance: Callable[[str], None]
) -> Iterator[Surveyed]:
    waiting: list[tuple[Sequence[tuple[str, str]], Future[list[Surveyed]]]] = []
    waiting += ((chunk, pool.submit(survey_chunk, chunk)) for chunk in chunks)
    for chunk, future in waiting:
        yield from future.result()
        for _, name in chunk:
            advance(name)


def survey_chunk(files: Sequence[tuple[str, str]]) -> list[Surveyed]:
    """Look at some files, given by path and name, in this process."""
    return with_deep_stack(lambda: list(_survey_here(files, lambda _name: None)))


def _survey_here(files: Iterable[tuple[str, str]], advance: Callable[[str], None]) -> Iterator[Surveyed]:
    with without_garbage_collection():
        for number, (path, name) in enumerate(files):
            advance(name)
            yield survey_file(Path(path), name)
            if number % 500 == 499:
                gc.collect()


def survey_file(path: Path, name: str) -> Surveyed:
    """Look at one file; `name` stands in messages about its syntax."""
    try:
        text = read_source(path).text
        tree = parse(name, text).tree
        return Surveyed(compiles=may_compile(text, tree), is_marked="gbfix:" in text)
    except GbfixError as error:
        return Surveyed(problem=str(error))
