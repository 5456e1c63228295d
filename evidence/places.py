"""Names of files as evidence writes them: relative to the root with "/" where they lie in it, else absolute."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Mapping
from pathlib import Path

from gbfix.evidence.model import Place
from gbfix.evidence.stack import Origin, StackFrame, origin

_ABSOLUTE_ELSEWHERE = re.compile(r"^(?:[A-Za-z]:[\\/]|\\\\)")


class Places:
    """Turns files and frames of records into those of the evidence, for one root.

    copies: what was run in place of files, by their absolute paths (see `gbfix.evidence.copies`).
    """

    def __init__(self, root: Path, copies: Mapping[Path, Path] | None = None) -> None:
        self.root = str(root)
        self._copies = copies or {}
        self._resolved = os.path.realpath(root)
        self._files: dict[tuple[str, str], str] = {}

    def file(self, name: str, folder: str = "") -> str:
        """A file name of a record; `folder` is the working directory of its process, for relative names."""
        key = (name, folder)
        if key not in self._files:
            self._files[key] = self._file(name, folder)
        return self._files[key]

    def path(self, file: str) -> Path:
        """Where a file of the evidence is on this machine."""
        return Path(self.root, file)

    def text(self, file: str) -> Path:
        """Where the text is that was run for a file of the evidence: its copy, if it had one."""
        path = self.path(file)
        return self._copies.get(Path(os.path.realpath(path)), path) if self._copies else path

    def origin(self, file: str) -> Origin:
        """Whose code a file of the evidence is."""
        return origin(file if _is_absolute(file) or file.startswith("<") else f"{self.root}/{file}", self.root)

    def place(self, frame: StackFrame, folder: str = "") -> Place:
        """The place of a frame."""
        return Place(self.file(frame.file, folder), frame.line, frame.function)

    def source(self, place: Place) -> str:
        """The line of source at a place, empty when the file cannot be read here."""
        return linecache.getline(str(self.text(place.file)), place.line).strip()

    def _file(self, name: str, folder: str) -> str:
        if not name or name.startswith("<"):
            return name
        path = name if _is_absolute(name) or not folder else os.path.join(folder, name)
        for root, candidate in ((self.root, os.path.normpath(path)), (self._resolved, os.path.realpath(path))):
            if candidate.startswith(root.rstrip(os.sep) + os.sep):
                return os.path.relpath(candidate, root).replace(os.sep, "/")
        return path if _is_absolute(path) else name


def _is_absolute(path: str) -> bool:
    return os.path.isabs(path) or _ABSOLUTE_ELSEWHERE.match(path) is not None
