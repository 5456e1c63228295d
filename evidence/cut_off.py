"""Files of lines that a killed process left in the middle of one."""

from __future__ import annotations

from pathlib import Path


def ends_with_a_line(path: Path) -> bool:
    """True for a file whose last line is whole, and for an empty one. Raises OSError."""
    with path.open("rb") as file:
        if file.seek(0, 2) == 0:
            return True
        file.seek(-1, 2)
        return file.read(1) == b"\n"
