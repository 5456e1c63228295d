"""How files are called on the screen."""

from __future__ import annotations

import os
from pathlib import Path

from gbfix.engine.paths import printable

STDIN = Path("<stdin>")
"""Stands for the program that comes in on standard input."""


def display_name(path: Path) -> str:
    """The path as the user sees it: from the current folder when the file is below it, else absolute."""
    absolute = Path(os.path.abspath(path))
    here = Path.cwd()
    return (absolute.relative_to(here) if absolute.is_relative_to(here) else absolute).as_posix()


def shown_name(path: Path) -> str:
    """The same for a line of text: escaped when it holds what would break the line or steer a terminal."""
    return printable(Path(display_name(path)))
