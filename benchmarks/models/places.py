"""Names of files that are the same for a library as installed and for the copies of its files in an overlay."""

from __future__ import annotations

import re
from pathlib import PurePath

LIBRARY_FOLDERS = ("site-packages", ".gbfix/overlay")
_FOLDER_OF_LIBRARIES = re.compile(
    r"""(?<![\w.\-\\/])(?:[A-Za-z]:)?[\\/](?:[^\s'"`<>(),;:|]*[\\/])?"""
    r"""(?:site-packages|\.gbfix[\\/]overlay)[\\/]"""
)


def from_library(path: str) -> str:
    """The path from the folder on that libraries, or the copies of `gbfix run`, lie in; else the file's name."""
    name = path.replace("\\", "/")
    for folder in LIBRARY_FOLDERS:
        _, found, rest = f"/{name}".rpartition(f"/{folder}/")
        if found:
            return rest
    return PurePath(name).name


def without_machine(text: str, folder: str = "") -> str:
    """The text with its absolute paths cut: those of libraries as `from_library` does, those in a folder to the rest.

    A text that is kept, and compared with that of another machine, may not name where this one has its environments.
    """
    text = _FOLDER_OF_LIBRARIES.sub("", text)
    for separator in "/\\":
        text = text.replace(folder.rstrip("/\\") + separator, "") if folder else text
    return text
