"""Content hashes of source files, so that evidence can tell whether it is about the files as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from gbfix.evidence.model import Evidence

CHANGED = ""
"""In place of the hash of a file that is not what the run had: no content has it."""


def file_hash(path: Path) -> str | None:
    """SHA-256 of a file as hexadecimal digits; None when it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def file_hashes(files: Iterable[str], path: Callable[[str], Path]) -> dict[str, str]:
    """The hashes of those files that exist, by name, in order; `path` tells where the text of a name is."""
    hashes = ((file, file_hash(path(file))) for file in sorted(set(files)) if not file.startswith("<"))
    return {file: found for file, found in hashes if found is not None}


def without_changed(evidence: Evidence, moment: float, what: str) -> Evidence:
    """The evidence, with the files that changed after `moment` (seconds since the epoch) marked as such.

    What the evidence says of their lines is about another text. `what` ends the sentence "FILE changed ...".
    """
    changed = [file for file in evidence.hashes if _modified_after(Path(evidence.root) / file, moment)]
    if not changed:
        return evidence
    problems = tuple(f"{file} changed {what}: its lines are not what was run; trace again" for file in changed)
    hashes = {**evidence.hashes, **dict.fromkeys(changed, CHANGED)}
    return replace(evidence, hashes=hashes, problems=(*evidence.problems, *problems))


def _modified_after(path: Path, moment: float) -> bool:
    try:
        return path.stat().st_mtime > moment
    except OSError:
        return True
