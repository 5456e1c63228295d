"""Bringing what `gbfix fix` planned to the disk: project files in place, installed ones as copies; all or none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from gbfix.cli.copies import write_copies
from gbfix.cli.fix_files import is_installed
from gbfix.cli.fix_texts import Texts
from gbfix.cli.names import display_name
from gbfix.cli.outcome import FileOutcome, Outcome
from gbfix.cli.patch import patch_of
from gbfix.cli.writing import undo_hint
from gbfix.engine.atomic import write_whole
from gbfix.engine.data_folder import data_folder, refuse_link
from gbfix.engine.dataclass import dataclass
from gbfix.engine.diff import unified_diff
from gbfix.engine.model import GbfixError, WriteError
from gbfix.engine.paths import printable
from gbfix.engine.undo import undo_root
from gbfix.engine.write import Change, blocked, write_files
from gbfix.evidence.overlay import MANIFEST, check_overlay, overlay_folder

PATCH = "upstream.patch"
"""In the data folder: what the copies of installed files change, for the people who wrote those."""


@dataclass(frozen=True)
class Planned:
    """The files that shall change: those that are edited in place, and those of installed packages."""

    own: tuple[FileOutcome, ...]
    installed: tuple[FileOutcome, ...]

    @property
    def files(self) -> tuple[FileOutcome, ...]:
        """All of them."""
        return (*self.own, *self.installed)

    @property
    def patch(self) -> bytes:
        """For `git apply` in the project; nothing of installed packages is in it."""
        return patch_of(self.own) if self.own else b""

    @property
    def upstream(self) -> bytes:
        """The same of installed packages, with the paths that their repositories most often have."""
        parts = (
            unified_diff(_upstream_path(file.source.path), file.source.text, file.after) for file in self.installed
        )
        return "".join(parts).encode("utf-8", "surrogateescape")


def planned(files: Sequence[FileOutcome], root: Path) -> Planned:
    """Tell files apart by where a fix goes."""
    changed = [file for file in files if file.changed]
    installed = tuple(file for file in changed if is_installed(_real(file), root))
    return Planned(tuple(file for file in changed if file not in installed), installed)


def check_writable(files: Planned, *, allow_dirty: bool) -> None:
    """Raise WriteError, one line for each file of the project that could not be written."""
    problems = blocked([Change(file.source, file.after) for file in files.own], allow_dirty=allow_dirty)
    if problems:
        raise WriteError("\n".join(map(str, problems.values())))


def write(files: Planned, root: Path, *, allow_dirty: bool) -> str:
    """Write everything, and give what the user can do then. Raises WriteError; project files are then as they were."""
    hints = []
    if files.installed:
        outcome, hint = write_copies(Outcome(files.installed, (), 0), root)
        if outcome.problems:
            raise WriteError("\n".join(outcome.problems))
        patch = data_folder(root) / PATCH
        refuse_link(patch)
        try:
            write_whole(patch, files.upstream)
        except OSError as error:
            raise WriteError(f"{printable(patch)}: cannot be written: {error.strerror}") from error
        hints += [hint or "", f"the same as a patch for the people who maintain them: {display_name(patch)}"]
    if files.own:
        changes = [Change(file.source, file.after) for file in files.own]
        write_files(changes, root=undo_root([file.source.path for file in files.own]), allow_dirty=allow_dirty)
        hints.append(undo_hint(Outcome(files.own, (), 0)) or "")
    return "\n".join(filter(None, hints))


def overlaid_texts(root: Path) -> tuple[Texts, str]:
    """What an overlay made earlier has planned already, and a note when it cannot be used: it is then made anew."""
    folder = overlay_folder(root)
    if not (folder / MANIFEST).exists():
        return Texts(), ""
    try:
        copies = {Path(file.original): folder / file.copy for file in check_overlay(folder)}
    except GbfixError as error:
        return Texts(), f"the copies made earlier are not used: {str(error).splitlines()[0]}"
    texts = Texts().with_files(copies)
    names = {display_name(original): copy for original, copy in copies.items()}
    read = {name: Texts().read(names[name]).text for name in texts.originals}
    return Texts(texts.originals, read), ""


def _real(file: FileOutcome) -> Path:
    return Path(os.path.realpath(file.source.path))


def _upstream_path(path: Path) -> str:
    parts = PurePosixPath(path.as_posix()).parts
    packages = max((n for n, part in enumerate(parts) if part in ("site-packages", "dist-packages")), default=0)
    return "/".join(parts[packages + 1 :])
