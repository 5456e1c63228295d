"""What `gbfix undo` needs: the old contents of every file that an apply wrote.

`.gbfix/undo/` below the root holds one folder for each apply, numbered in order:

    record.json   {"version": 1, "files": [{"path", "before", "after"}]}, paths from the root, SHA-256 of contents
    0.before ...  the old contents of each file
    undo.patch    the same as a patch, for people; `git apply -R` takes it

A record appears in one rename when it is complete, and is taken for untrusted: it may come with a repository.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from gbfix.engine.atomic import Rewrite, obstacle, replace_all, sync_folder
from gbfix.engine.data_folder import locked, refuse_link
from gbfix.engine.dataclass import dataclass
from gbfix.engine.diff import unified_diff
from gbfix.engine.git import repository_root
from gbfix.engine.model import GbfixError, WriteError
from gbfix.engine.paths import printable
from gbfix.engine.regular import read_regular

_VERSION = 1
_NUMBER = re.compile(r"[0-9]{8}")
_UNFINISHED = "unfinished-"


@dataclass(frozen=True)
class RecordedFile:
    """One file of a record; `after` is the digest (SHA-256, hexadecimal) of the contents that the apply wrote."""

    path: Path
    before: bytes
    after: str


def undo_root(files: Sequence[Path] = ()) -> Path:
    """The folder to keep the undo record of these files in, so that `gbfix undo` in the same place finds it.

    It is the repository around the working directory, or the working directory outside of one. When a file lies
    elsewhere, it is the repository or folder that all the files share. Raises GbfixError when there is none.
    """
    here = repository_root(Path()) or Path.cwd()
    real = [Path(os.path.realpath(file)) for file in files]
    if all(file.is_relative_to(here) for file in real):
        return here
    try:
        shared = Path(os.path.commonpath([file.parent for file in real]))
    except ValueError as error:  # two drives
        raise GbfixError("the files share no folder to keep the undo record in; name fewer of them") from error
    return repository_root(shared) or shared


def record(root: Path, rewrites: Sequence[Rewrite]) -> Path:
    """Remember the old contents of files that are about to be replaced; gives the folder of the record.

    The caller holds the lock of `root`. Raises WriteError when a file lies outside of `root` or the disk declines.
    """
    names = [_name(root, rewrite.path) for rewrite in rewrites]
    files = [
        {"path": name, "before": _digest(rewrite.before), "after": _digest(rewrite.after)}
        for name, rewrite in zip(names, rewrites, strict=True)
    ]
    patch = "".join(_patch(name, rewrite) for name, rewrite in zip(names, rewrites, strict=True))
    records = _records_folder(root)
    with _disk_errors(records):
        records.mkdir(exist_ok=True)
        for left in records.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left)
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=records))
        for index, rewrite in enumerate(rewrites):
            _write(unfinished / f"{index}.before", rewrite.before)
        _write(unfinished / "undo.patch", patch.encode("utf-8", "surrogateescape"))
        _write(unfinished / "record.json", json.dumps({"version": _VERSION, "files": files}, indent=1).encode())
        sync_folder(unfinished)
        last = max((int(folder.name) for folder in _records(root)), default=0)
        folder = records / f"{last + 1:08}"
        unfinished.rename(folder)
        sync_folder(records)
    return folder


def discard_unused(folder: Path, rewrites: Sequence[Rewrite]) -> None:
    """Forget a record whose apply left no file changed; keep it when any file still has the new contents."""
    if all(rewrite.path.is_symlink() or _digest_of(rewrite.path) != _digest(rewrite.after) for rewrite in rewrites):
        _remove(folder)


def recorded_files(root: Path) -> tuple[RecordedFile, ...]:
    """What the applies that can be undone wrote, the last apply first. Raises WriteError when a record is damaged."""
    return tuple(entry for folder in reversed(_records(root)) for entry in _load(root, folder))


def undo_last(root: Path) -> tuple[Path, ...]:
    """Give the files of the last recorded apply their old contents back and forget the record; gives these files.

    A file that has its old contents already (the apply was killed before its turn, or the user was quicker) is left
    alone. Files are restored one by one, each atomically; after a kill, undoing again does the rest.

    Raises GbfixError when nothing is recorded, and WriteError, with nothing written, when a file no longer has
    the contents that the apply wrote, cannot be written, or the record is damaged.
    """
    if not _records(root):
        raise GbfixError(f"{printable(root)}: nothing to undo")
    with locked(root):
        records = _records(root)
        if not records:
            raise GbfixError(f"{printable(root)}: nothing to undo")
        rewrites = _restoring(_load(root, records[-1]), records[-1])
        replace_all(rewrites)
        _remove(records[-1])
    return tuple(sorted(rewrite.path for rewrite in rewrites))


def _restoring(entries: Sequence[RecordedFile], folder: Path) -> list[Rewrite]:
    """What is left to restore. Raises WriteError with one line for each file that stands in the way."""
    rewrites: list[Rewrite] = []
    problems: list[str] = []
    for entry in entries:
        problem = obstacle(entry.path)
        current = b"" if problem else read_regular(entry.path)
        if problem is None and current != entry.before and _digest(current) != entry.after:
            patch = printable(folder / "undo.patch")
            problem = f"changed since gbfix wrote it; undo by hand with {patch}, then delete {printable(folder)}"
        if problem is not None:
            problems.append(f"{printable(entry.path)}: {problem}")
        elif current != entry.before:
            rewrites.append(Rewrite(entry.path, current, entry.before))
    if problems:
        raise WriteError("\n".join(problems))
    return rewrites


def _records_folder(root: Path) -> Path:
    folder = root / ".gbfix" / "undo"
    refuse_link(folder.parent)
    refuse_link(folder)
    return folder


def _records(root: Path) -> list[Path]:
    """The complete records, oldest first."""
    folder = _records_folder(root)
    if not folder.is_dir():
        return []
    return sorted(entry for entry in folder.iterdir() if _NUMBER.fullmatch(entry.name))


def _load(root: Path, folder: Path) -> list[RecordedFile]:
    """Read a record, trusting nothing in it."""
    try:
        document = json.loads(read_regular(folder / "record.json"))
        if document["version"] != _VERSION:
            raise WriteError(f"{printable(folder)}: written by another version of gbfix; undo with that one")
        return [_entry(root, folder, index, item) for index, item in enumerate(document["files"])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WriteError(f"{printable(folder)}: damaged undo record ({error}); delete this folder") from error


def _entry(root: Path, folder: Path, index: int, item: dict[str, str]) -> RecordedFile:
    name = PurePosixPath(item["path"])
    top = Path(os.path.realpath(root))
    path = top / name
    hidden = {".git", ".gbfix"} & {part.lower() for part in name.parts}
    if name.is_absolute() or ".." in name.parts or hidden or Path(os.path.realpath(path)) != path:
        raise ValueError(f"{item['path']!a} leads outside of the files that gbfix writes")
    before = read_regular(folder / f"{index}.before")
    if _digest(before) != item["before"]:
        raise ValueError(f"the old contents of {item['path']!a} are not as they were stored")
    return RecordedFile(path, before, item["after"])


def _name(root: Path, path: Path) -> str:
    try:
        return path.relative_to(os.path.realpath(root)).as_posix()
    except ValueError:
        raise WriteError(f"{printable(path)}: lies outside of {printable(root)}; run gbfix where it lies") from None


def _patch(name: str, rewrite: Rewrite) -> str:
    """The diff of one file. Bytes that are not UTF-8 pass as surrogates, so that the patch has them as they are."""
    before, after = (data.decode("utf-8", "surrogateescape") for data in (rewrite.before, rewrite.after))
    return unified_diff(name, before, after)


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _remove(folder: Path) -> None:
    """Remove a record in one step; what a kill leaves of it is no record."""
    with _disk_errors(folder):
        gone = folder.with_name(f"{_UNFINISHED}{folder.name}")
        folder.rename(gone)
        shutil.rmtree(gone)


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriteError(f"{printable(path)}: the undo record cannot be written: {error.strerror}") from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of(path: Path) -> str:
    try:
        return _digest(read_regular(path))
    except OSError:
        return ""
