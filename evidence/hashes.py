"""Content hashes of source files, so that evidence can tell whether it is about the files as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def file_hash(path: Path) -> str | None:
    """SHA-256 of a file as hexadecimal digits; None when it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def file_hashes(files: Iterable[str], root: Path) -> dict[str, str]:
    """The hashes of those files that exist, by name, in order; names are absolute or relative to `root`."""
    hashes = ((file, file_hash(root / file)) for file in sorted(set(files)) if not file.startswith("<"))
    return {file: found for file, found in hashes if found is not None}
