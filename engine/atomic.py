"""Replacing file contents so that each file is old or new at every moment, and a group of them all or none.

A file is written beside its target, flushed, given the target's mode and owner, and renamed over it, once more after a
look whether somebody else has changed the target meanwhile. Other hard links of the file keep the old contents: that is
the price of a rename.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from gbfix.engine.dataclass import dataclass
from gbfix.engine.git import repository_root
from gbfix.engine.model import WriteError
from gbfix.engine.paths import printable
from gbfix.engine.regular import read_regular

_PREFIX, _SUFFIX = ".gbfix-", ".tmp"


@dataclass(frozen=True)
class Rewrite:
    """New contents for a file; `path` is the file itself, not a symbolic link to it."""

    path: Path
    before: bytes
    after: bytes


def obstacle(path: Path) -> str | None:
    """Why a regular file cannot be replaced, with what to do; None when it can.

    Inside a repository a file without any write bit is protected, even from a user whom the system would let
    through: git checks files out writable, so somebody took the bit away on purpose. Elsewhere the bit says little,
    since a copy from a read-only place lacks it too, and the system's own answer counts.
    """
    try:
        status = path.lstat()
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    protected = not status.st_mode & 0o222 and repository_root(path.parent) is not None
    if protected or not os.access(path, os.W_OK):
        return "is read-only; make it writable (chmod u+w) or leave it out"
    if not os.access(path, os.R_OK):
        return "cannot be read; make it readable (chmod u+r) or leave it out"
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return "lies in a folder that is read-only; make the folder writable or leave the file out"
    return None


def replace_all(rewrites: Sequence[Rewrite]) -> None:
    """Give every file its new contents, or put back those already written and raise WriteError.

    A file that no longer holds `before` at its turn counts as a failure. An interrupt is handled in the same way and
    raised again.
    """
    remove_leftovers(rewrite.path.parent for rewrite in rewrites)
    begun: list[Rewrite] = []
    try:
        for rewrite in rewrites:
            _check_unchanged(rewrite)
            begun.append(rewrite)
            _replace(rewrite.path, rewrite.after, partial(_check_unchanged, rewrite))
    except BaseException as error:
        outcome = _put_back(begun)
        if isinstance(error, OSError):
            # The error itself may name the temporary file.
            raise WriteError(f"{printable(rewrite.path)}: cannot be written: {error.strerror}; {outcome}") from error
        if isinstance(error, WriteError):
            raise WriteError(f"{error}; {outcome}") from error
        raise


def replace(path: Path, data: bytes) -> None:
    """Atomically give one existing file new contents, keeping mode and, where permitted, owner. Raises OSError."""
    _replace(path, data, lambda: None)


def _replace(path: Path, data: bytes, check: Callable[[], None]) -> None:
    """The same, with a check as the last thing before the rename."""
    status = path.stat()

    def keep_owner_and_mode(temporary: Path) -> None:
        if sys.platform != "win32":
            with contextlib.suppress(PermissionError):
                os.chown(temporary, status.st_uid, status.st_gid)
        temporary.chmod(stat.S_IMODE(status.st_mode))  # after chown, which takes set-id bits away
        check()

    put(path, data, keep_owner_and_mode)


def write_whole(path: Path, data: bytes) -> None:
    """Give a file, new or there, its contents whole or not at all; of a symbolic link, the file that it leads to.

    A file that is there keeps its mode. Raises OSError.
    """
    target = Path(os.path.realpath(path))
    put(target, data, lambda temporary: temporary.chmod(_mode(target)))


def put(path: Path, data: bytes, finish: Callable[[Path], None]) -> None:
    """Atomically put a file with these contents into a place, whatever is there, a symbolic link too. Raises OSError.

    finish: gives the file its mode, before anybody sees it.
    """
    descriptor, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        finish(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder survive a power cut, where the system can."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):  # some network file systems refuse this on folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _mode(target: Path) -> int:
    """The mode of a file that is there, else that of any new file."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _check_unchanged(rewrite: Rewrite) -> None:
    """Raise WriteError when a file is not the one that was read: its contents, or what stands in its place."""
    name = printable(rewrite.path)
    if not stat.S_ISREG(rewrite.path.lstat().st_mode):
        raise WriteError(f"{name}: was replaced by a link or the like since it was read; run gbfix again")
    if read_regular(rewrite.path) != rewrite.before:
        raise WriteError(f"{name}: changed since it was read; run gbfix again")


def _put_back(begun: Sequence[Rewrite]) -> str:
    """Undo what was written, and say how that went."""
    written = stuck = 0
    for rewrite in reversed(begun):
        try:
            if not rewrite.path.is_symlink() and read_regular(rewrite.path) == rewrite.after:
                written += 1
                replace(rewrite.path, rewrite.before)
        except OSError:
            stuck += 1
    if stuck:
        return f"{stuck} of the files already written could not be put back: see `gbfix undo`"
    return "the files already written were put back" if written else "nothing was written"


def remove_leftovers(folders: Iterable[Path]) -> None:
    """Remove what a killed run left beside its targets; what cannot be removed stands in nobody's way."""
    for folder in sorted(set(folders)):
        with contextlib.suppress(OSError):
            for leftover in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
                leftover.unlink()
