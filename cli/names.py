"""How files are called on the screen."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gbfix.engine.paths import printable

STDIN = Path("<stdin>")
"""Stands for the program that comes in on standard input."""


def display_name(path: Path) -> str:
    """The path as the user sees it: from the current folder when the file is below it, else absolute."""
    return display_names([path])[0]


def shown_name(path: Path) -> str:
    """The same for a line of text: escaped when it holds what would break the line or steer a terminal."""
    return printable(Path(display_name(path)))


def display_names(paths: Iterable[Path]) -> list[str]:
    """The same for many paths."""
    here = Path.cwd().as_posix().rstrip("/") + "/"
    absolute = (os.path.abspath(path) for path in paths)
    return [(path if os.sep == "/" else Path(path).as_posix()).removeprefix(here) for path in absolute]
