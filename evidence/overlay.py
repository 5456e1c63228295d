"""The overlay on disk: rewritten copies of files that `gbfix run` loads in place of the originals.

`.gbfix/overlay/` at the root of a project holds `manifest.json` and the copies, under names that a person recognises
(`transformers/models/detr/modeling_detr.py`). Removing the folder removes the overlay. `overlay_files` is the other
reader of the manifest, inside the program.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec

from gbfix.engine.atomic import Rewrite, put, remove_leftovers
from gbfix.engine.data_folder import locked, refuse_link
from gbfix.engine.model import GbfixError, WriteError
from gbfix.engine.paths import printable
from gbfix.engine.regular import read_regular

VERSION = 1
MANIFEST = "manifest.json"
_LIBRARY_FOLDERS = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True)
class OverlaidFile:
    """A file and its copy, with the SHA-256 of what each held when the copy was made.

    `original` is absolute and free of symbolic links, `copy` starts at the overlay folder and is written with "/".
    """

    original: str
    original_digest: str
    copy: str
    copy_digest: str


@dataclass(frozen=True)
class OverlayChange:
    """What became of an overlay: the copy of each rewritten file, and the originals that have none any more."""

    copies: dict[Path, Path]
    removed: tuple[Path, ...]


@dataclass(frozen=True)
class _Manifest:
    version: int
    files: tuple[OverlaidFile, ...] = ()


def overlay_folder(root: Path) -> Path:
    """Where the overlay of a project lies, whether it is there or not."""
    return root / ".gbfix" / "overlay"


def write_overlay(root: Path, rewrites: Sequence[Rewrite], without: Collection[Path] = ()) -> OverlayChange:
    """Put copies into the overlay of a project, each in place of the one that its original had before.

    `without`: originals whose copies are taken out. The originals are not touched; `before` of a rewrite is what
    its file held when the copy was planned. Raises WriteError when the folder cannot be written, is a symbolic link,
    or another gbfix is writing there, and GbfixError for a foreign manifest.
    """
    with locked(root) as data_folder:
        folder = data_folder / "overlay"
        refuse_link(folder)
        gone = {os.path.realpath(path) for path in without}
        old = read_overlay(folder) if (folder / MANIFEST).exists() else ()
        removed = tuple(Path(file.original) for file in old if file.original in gone)
        files = {file.original: file for file in old if file.original not in gone}
        if not old and not rewrites:
            return OverlayChange({}, ())
        for rewrite in rewrites:
            files[str(rewrite.path)] = _overlaid(rewrite, root, files)
        copies = [folder / files[str(rewrite.path)].copy for rewrite in rewrites]
        for copy in copies:
            if _is_linked(folder, copy):
                raise WriteError(f"{printable(copy)}: is, or lies behind, a symbolic link; remove {printable(folder)}")
        try:
            remove_leftovers([folder, *(copy.parent for copy in copies)])
            for rewrite in rewrites:
                _write(folder / files[str(rewrite.path)].copy, rewrite.after)
            _write_manifest(folder, [files[original] for original in sorted(files)])
            _remove_unused(folder, old, files.values())
        except OSError as error:
            raise WriteError(f"{printable(folder)}: the overlay cannot be written: {error.strerror}") from error
    return OverlayChange({rewrite.path: folder / files[str(rewrite.path)].copy for rewrite in rewrites}, removed)


def read_overlay(folder: Path) -> tuple[OverlaidFile, ...]:
    """The files of an overlay, sorted. Raises GbfixError when there is none, or none that this gbfix can read."""
    path = folder / MANIFEST
    try:
        manifest = msgspec.json.decode(read_regular(path), type=_Manifest)
    except FileNotFoundError as error:
        reason = "there is no overlay here; `gbfix apply --overlay PATH` makes one"
        raise GbfixError(f"{printable(folder)}: {reason}") from error
    except OSError as error:
        raise GbfixError(f"{printable(path)}: cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _foreign(folder, "is no list of an overlay's files") from error
    if manifest.version != VERSION:
        raise _foreign(folder, f"was written by another version of gbfix (format {manifest.version})")
    if any(_leads_out(folder, file.copy) for file in manifest.files):
        raise _foreign(folder, "names a copy outside of the overlay")
    return manifest.files


def check_overlay(folder: Path) -> tuple[OverlaidFile, ...]:
    """The files of an overlay that can be used as a whole.

    Raises GbfixError, one line for each original that changed or is missing and each copy that was edited or is
    missing: the copy then no longer is the original with gbfix's fixes made.
    """
    files = read_overlay(folder)
    problems = [problem for file in files if (problem := _problem(folder, file))]
    if problems:
        raise GbfixError("\n".join(problems))
    return files


def no_overlay_reason(path: Path) -> str | None:
    """Why a file cannot be overlaid, with what to do; None when it can.

    Dynamo tells PyTorch's and Python's own files by their paths (`torch/_dynamo/trace_rules.py`): it would trace
    into copies of functions that it otherwise knows and leaves alone.
    """
    real = Path(os.path.realpath(path))
    try:
        str(real).encode()
    except UnicodeEncodeError:
        return "has a path that is not text, which the list of the overlay's files cannot hold; rename it"
    for folder in real.parents:
        if folder.name == "overlay" and folder.parent.name == ".gbfix":
            return "is a copy in an overlay; name the original instead"
        if folder.name == "torch" and (folder / "_dynamo").is_dir():
            return "belongs to PyTorch, which Dynamo recognises by its path; it cannot be overlaid"
        if folder.name in _LIBRARY_FOLDERS:
            return None
        if (folder / "os.py").is_file() and (folder / "importlib").is_dir():
            return "belongs to Python itself, which Dynamo recognises by its path; it cannot be overlaid"
    return None


def _overlaid(rewrite: Rewrite, root: Path, others: dict[str, OverlaidFile]) -> OverlaidFile:
    original = str(rewrite.path)
    name = others[original].copy if original in others else _free_name(rewrite.path, root, others)
    return OverlaidFile(original, _digest(rewrite.before), name, _digest(rewrite.after))


def _free_name(original: Path, root: Path, others: dict[str, OverlaidFile]) -> str:
    """The name that a person recognises, or one beside it when two files of one name are overlaid."""
    name = _import_path(original, root).as_posix()
    # Also where the file system ignores case.
    taken = {MANIFEST, *(file.copy.casefold() for file in others.values())}
    if name.casefold() not in taken:
        return name
    return f"{hashlib.sha256(os.fsencode(original.parent)).hexdigest()[:8]}/{name}"


def _import_path(original: Path, root: Path) -> PurePosixPath:
    """From the folder on sys.path where the file seems to be found: that of libraries, the project, the package's."""
    for folder in original.parents:
        if folder.name in _LIBRARY_FOLDERS:
            return PurePosixPath(original.relative_to(folder))
    real_root = Path(os.path.realpath(root))
    if original.is_relative_to(real_root):
        return PurePosixPath(original.relative_to(real_root))
    top = original.parent
    while (top / "__init__.py").is_file():
        top = top.parent
    return PurePosixPath(original.relative_to(top))


def _leads_out(folder: Path, copy: str) -> bool:
    """True for what is no name of a copy, also when a link below the folder makes it lead out."""
    path = PurePosixPath(copy)
    if path.is_absolute() or ".." in path.parts or "\0" in copy or path.as_posix().casefold() in (".", MANIFEST):
        return True
    return _is_linked(folder, folder / path)


def _is_linked(folder: Path, copy: Path) -> bool:
    """True when a symbolic link stands in the place of a copy, or of a folder between the overlay's and it."""
    below = [copy, *copy.parents][: len(copy.parts) - len(folder.parts)]
    return any(part.is_symlink() for part in below)


def _problem(folder: Path, file: OverlaidFile) -> str | None:
    original, copy = Path(file.original), folder / file.copy
    again = f"run `gbfix apply --overlay {shlex.quote(file.original)}` again"
    if not _is_there(original):
        return f"{printable(original)}: is gone, and its copy in the overlay cannot be used; remove {printable(folder)}"
    if _digest_of(original) != file.original_digest:
        return f"{printable(original)}: changed since its copy in the overlay was made; {again}"
    if not _is_there(copy):
        return f"{printable(copy)}: this copy of {printable(original)} is gone; {again}"
    if _digest_of(copy) != file.copy_digest:
        return f"{printable(copy)}: this copy of {printable(original)} was edited; {again}"
    return None


def _foreign(folder: Path, problem: str) -> GbfixError:
    return GbfixError(f"{printable(folder / MANIFEST)}: {problem}; remove {printable(folder)} and make it anew")


def _is_there(path: Path) -> bool:
    return os.path.exists(path)  # unlike Path.exists, false for names that are too long


def _digest_of(path: Path) -> str:
    try:
        return _digest(read_regular(path))
    except OSError as error:
        raise GbfixError(f"{printable(path)}: cannot be read: {error.strerror}") from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(path: Path, data: bytes) -> None:
    """Give a file its contents whole or not at all, and make its folders. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # As readable as source usually is, also for ranks that run as somebody else.
    put(path, data, lambda temporary: temporary.chmod(0o644))


def _write_manifest(folder: Path, files: Sequence[OverlaidFile]) -> None:
    if files:
        data = msgspec.json.encode(_Manifest(VERSION, tuple(files)))
        _write(folder / MANIFEST, msgspec.json.format(data, indent=2) + b"\n")
    else:
        (folder / MANIFEST).unlink()


def _remove_unused(folder: Path, before: Iterable[OverlaidFile], after: Iterable[OverlaidFile]) -> None:
    """Remove the copies that the new manifest no longer names, and the folders that this leaves empty."""
    for name in {file.copy for file in before} - {file.copy for file in after}:
        (folder / name).unlink(missing_ok=True)
        for parent in (folder / name).parents:
            if parent == folder or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()
