"""How files are called on the screen."""

from __future__ import annotations

import os
from pathlib import Path

STDIN = Path("<stdin>")
"""Stands for the program that comes in on standard input."""


def display_name(path: Path) -> str:
    """The path as the user sees it: from the current folder when the file is below it, else absolute."""
    absolute = Path(os.path.abspath(path))
    here = Path.cwd()
    return (absolute.relative_to(here) if absolute.is_relative_to(here) else absolute).as_posix()
