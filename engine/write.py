"""Writing the changed files: all of them or none, and never over work that exists nowhere else."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from gbfix.engine.atomic import Rewrite, obstacle, replace_all
from gbfix.engine.data_folder import locked
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import SourceText, encode_source
from gbfix.engine.git import dirty_files, repository_root
from gbfix.engine.model import GbfixError, SourceError, WriteError
from gbfix.engine.paths import printable
from gbfix.engine.regular import read_regular
from gbfix.engine.undo import discard_unused, record


@dataclass(frozen=True)
class Change:
    """A file as it was read and the text that it shall have."""

    source: SourceText
    after: str


def blocked(changes: Sequence[Change], *, allow_dirty: bool) -> dict[Path, WriteError]:
    """Why `write_files` would refuse files, by their path; empty when nothing stands in the way.

    A file is refused that was changed since it was read, that is read-only, whose encoding lacks a character of
    the new text, or that has uncommitted changes and `allow_dirty` is not given. Uncommitted is what git calls
    modified or staged against the last commit. Files that git does not track, ignored ones, and files outside of
    any repository are written: they could never be clean, and `gbfix undo` brings them back.
    """
    problems = {} if allow_dirty else _dirty(changes)
    for change in changes:
        problem = _problem(change)
        if problem is not None:
            problems[change.source.path] = WriteError(problem)
    return problems


def write_files(changes: Sequence[Change], *, root: Path, allow_dirty: bool) -> None:
    """Write every change, or none and raise WriteError (one line for each file that is refused; see `blocked`).

    Files are replaced one by one, each atomically and with its mode kept; where a path is a symbolic link, the file
    that it leads to is replaced. When one cannot be written, the earlier ones are put back. The record for
    `gbfix.engine.undo.undo_last` is complete before the first replacement, so that a kill at any moment leaves
    every file old or new, and undo makes them old. It stands below `root`, which must hold every file.

    Raises SourceError when a text does not fit its file's encoding, WriteError when another gbfix holds `root`.
    """
    changes = [change for change in changes if change.after != change.source.text]
    if not changes:
        return
    rewrites = [_rewrite(change) for change in changes]
    _refuse_twice(rewrites)
    with locked(root):
        problems = blocked(changes, allow_dirty=allow_dirty)
        if problems:
            raise WriteError("\n".join(str(problem) for problem in problems.values()))
        entry = record(root, rewrites)
        try:
            replace_all(rewrites)
        except BaseException:
            discard_unused(entry, rewrites)
            raise


def _rewrite(change: Change) -> Rewrite:
    source = change.source
    before = encode_source(source, source.text)
    return Rewrite(_target(source.path), before, encode_source(source, change.after))


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _refuse_twice(rewrites: Iterable[Rewrite]) -> None:
    for path, count in Counter(rewrite.path for rewrite in rewrites).items():
        if count > 1:
            raise WriteError(f"{printable(path)}: changed by way of {count} paths at once; name it by one")


def _problem(change: Change) -> str | None:
    path = change.source.path
    target = _target(path)
    problem = obstacle(target)
    if problem is not None:
        return f"{printable(path)}: {problem}"
    try:
        rewrite = _rewrite(change)
    except SourceError as error:
        return str(error)
    try:
        same = read_regular(target) == rewrite.before
    except OSError as error:
        return f"{printable(path)}: cannot be read: {error.strerror}"
    return None if same else f"{printable(path)}: changed since it was read; run gbfix again"


def _dirty(changes: Iterable[Change]) -> dict[Path, WriteError]:
    """Asks each repository once: a file of a submodule is clean or dirty there."""
    by_repository: dict[Path, list[Path]] = defaultdict(list)
    for change in changes:
        repository = repository_root(change.source.path)
        if repository is not None:
            by_repository[repository].append(change.source.path)
    problems: dict[Path, WriteError] = {}
    for repository, paths in by_repository.items():
        try:
            dirty = dirty_files(repository, paths)
        except GbfixError as error:
            reason = f"cannot tell whether it has uncommitted changes ({error}); pass --allow-dirty to write anyway"
            problems.update((path, WriteError(f"{printable(path)}: {reason}")) for path in paths)
        else:
            advice = "has uncommitted changes; commit or stash them, or pass --allow-dirty"
            problems.update((path, WriteError(f"{printable(path)}: {advice}")) for path in paths if path in dirty)
    return problems
