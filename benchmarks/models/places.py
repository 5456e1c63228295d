"""Names of files that are the same for a library as installed and for the copies of its files in an overlay."""

from __future__ import annotations

from pathlib import PurePath

LIBRARY_FOLDERS = ("site-packages", ".gbfix/overlay")


def from_library(path: str) -> str:
    """The path from the folder on that libraries, or the copies of `gbfix run`, lie in; else the file's name."""
    name = path.replace("\\", "/")
    for folder in LIBRARY_FOLDERS:
        _, found, rest = f"/{name}".rpartition(f"/{folder}/")
        if found:
            return rest
    return PurePath(name).name
