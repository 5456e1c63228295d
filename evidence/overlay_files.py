"""The overlay as a program sees it: which files have a rewritten copy, and whether both are still as they were.

Runs inside the user's program: standard library only. `gbfix.evidence.overlay` writes the manifest that is read here.
"""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass
from pathlib import Path

from gbfix.evidence.journal import Journal


@dataclass(frozen=True)
class Copy:
    """A rewritten copy; `original` has its symbolic links resolved, the digests are SHA-256 of the contents."""

    original: str
    original_digest: str
    path: str
    digest: str


class LoadedOverlay:
    """The copies of one manifest, found by whatever path leads to their originals."""

    def __init__(self, manifest: Path, journal: Journal | None) -> None:
        """Read the manifest. Raises OSError, and ValueError, KeyError or TypeError when it is none."""
        self._journal = journal
        folder = os.path.abspath(manifest.parent)
        document = json.loads(manifest.read_bytes())
        copies = [
            Copy(
                file["original"],
                file["original_digest"],
                os.path.join(folder, *file["copy"].split("/")),
                file["copy_digest"],
            )
            for file in document["files"]
        ]
        self._by_original = {os.path.normcase(copy.original): copy for copy in copies}
        self._loaded: set[Copy] = set()
        self._by_folded_name: dict[str, list[Copy]] = {}
        for copy in copies:
            self._by_folded_name.setdefault(os.path.basename(copy.original).casefold(), []).append(copy)

    def find(self, path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> Copy | None:
        """The copy that stands in for the file at a path, through symbolic links and other spellings of its case.

        Asked for every module that the program imports, so it must be cheap and cannot fail.
        """
        try:
            real = _real(os.fsdecode(path))
            return self._by_original.get(os.path.normcase(real)) or self._same_file(real)
        except (OSError, ValueError):
            return None

    def find_loaded(self, path: str) -> Copy | None:
        """The copy for a path, if it was loaded; not if something else compiled the original, as pytest does."""
        copy = self.find(path)
        return copy if copy in self._loaded else None

    def read(self, copy: Copy, name: str) -> bytes:
        """The contents of a copy, which is then taken as loaded.

        Raises ImportError, which says what to do, when the original or the copy is not what the manifest says.
        The loss must not be silent even when the program expects its imports to fail: the journal gets it too.
        """
        data = _contents(copy.path)
        problem = _problem(copy, _contents(copy.original), data)
        if problem is None and data is not None:
            self._loaded.add(copy)
            self._note("overlay", original=copy.original, replacement=copy.path)
            return data
        again = f"run `gbfix apply --overlay {copy.original}` again, or the program without the overlay"
        message = f"{problem}; neither is loaded: {again}"
        self._note("problem", message=message, original=copy.original)
        raise ImportError(message, name=name, path=copy.original)

    def _same_file(self, real: str) -> Copy | None:
        """On a file system that ignores case the spelling in sys.path need not be the one in the manifest."""
        for copy in self._by_folded_name.get(os.path.basename(real).casefold(), ()):
            if copy.original.casefold() == real.casefold() and os.path.samefile(copy.original, real):
                return copy
        return None

    def _note(self, kind: str, **fields: object) -> None:
        if self._journal is not None:
            self._journal.write(kind, **fields)


def _real(path: str) -> str:
    """Like os.path.realpath, but looks at the folders of a package once, not once for each module."""
    if os.path.islink(path):
        return os.path.realpath(path)
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(_real_folder(folder), name)


@functools.cache
def _real_folder(folder: str) -> str:
    return os.path.realpath(folder)


def _problem(copy: Copy, original: bytes | None, data: bytes | None) -> str | None:
    if original is None:
        return f"{copy.original} cannot be read"
    if _digest(original) != copy.original_digest:
        return f"{copy.original} changed since its copy in the overlay was made"
    if data is None:
        return f"{copy.path}, the overlay's copy of {copy.original}, cannot be read"
    if _digest(data) != copy.digest:
        return f"{copy.path}, the overlay's copy of {copy.original}, was edited"
    return None


def _contents(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None


def _digest(data: bytes) -> str:
    import hashlib  # loads OpenSSL: only when a file of the overlay is really imported

    return hashlib.sha256(data).hexdigest()
