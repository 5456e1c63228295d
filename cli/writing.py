"""Bringing a run's results to the disk: edited files, and the patch file."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

from gbfix.cli.inputs import Inputs
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Accept, Entry, FileOutcome, Outcome
from gbfix.cli.patch import patch_of
from gbfix.engine.atomic import write_whole
from gbfix.engine.model import GbfixError, WriteError
from gbfix.engine.paths import printable
from gbfix.engine.undo import undo_root
from gbfix.engine.write import Change, blocked, write_files


def write_outcome(outcome: Outcome, *, allow_dirty: bool) -> Outcome:
    """Write every changed file that may be written; the others become problems of the outcome that is given back."""
    changed = [file for file in outcome.files if file.changed]
    refused = blocked([_change(file) for file in changed], allow_dirty=allow_dirty)
    problems = [str(error) for error in refused.values()]
    failed = set(refused)
    writable = [file for file in changed if file.source.path not in failed]
    try:
        if writable:
            root = undo_root([file.source.path for file in writable])
            write_files([_change(file) for file in writable], root=root, allow_dirty=allow_dirty)
    except GbfixError as error:
        problems += str(error).splitlines()
        failed.update(file.source.path for file in writable)
    files = tuple(file for file in outcome.files if file.source.path not in failed)
    return replace(outcome, files=files, problems=(*outcome.problems, *problems))


def only_writable(accept: Accept, inputs: Inputs, *, allow_dirty: bool) -> Accept:
    """Like `accept`, but raises WriteError for a file that could not be written, before anybody is asked about it."""
    sources = {display_name(source.path): source for source in inputs.sources}

    @cache
    def obstacle(name: str) -> WriteError | None:
        source = sources[name]
        return blocked([Change(source, source.text)], allow_dirty=allow_dirty).get(source.path)

    def accept_writable(name: str, entry: Entry) -> bool:
        error = obstacle(name)
        if error is not None:
            raise error
        return accept(name, entry)

    return accept_writable


def check_patch_file(path: Path) -> None:
    """Raise WriteError for a patch file that is a source: with FILE forgotten, a PATH would become the patch."""
    if path.suffix in (".py", ".pyi", ".ipynb") or path.is_dir():
        raise WriteError(f"{printable(path)}: is no place for a patch; say --patch FILE, such as --patch fixes.patch")


def write_patch(path: Path, outcome: Outcome) -> None:
    """Write the patch of a run to a file, whole or not at all. Raises WriteError."""
    write_patch_data(path, patch_of(outcome.files))


def write_patch_data(path: Path, patch: bytes) -> None:
    """Write a patch to a file, whole or not at all; or into a pipe or device. Raises WriteError."""
    try:
        if path.is_file() or not path.exists():
            write_whole(path, patch)
        else:
            path.write_bytes(patch)
    except OSError as error:
        raise WriteError(f"{printable(path)}: the patch cannot be written: {error.strerror}") from error


def undo_hint(outcome: Outcome) -> str | None:
    """How to take the written files back; None when none was written."""
    changed = [file.source.path for file in outcome.files if file.changed]
    if not changed:
        return None
    root = undo_root(changed)
    same_place = os.path.realpath(root) == os.path.realpath(undo_root())
    return "`gbfix undo` takes it back" + ("" if same_place else f" (run it in {printable(root)})")


def _change(file: FileOutcome) -> Change:
    return Change(file.source, file.after)
