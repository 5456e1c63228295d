"""The files that `gbfix trace` writes: checked before a long program runs, so that its evidence is not lost."""

from __future__ import annotations

import os
from pathlib import Path

from gbfix.engine.data_folder import data_folder, refuse_link
from gbfix.engine.git import repository_root
from gbfix.engine.model import GbfixError, WriteError
from gbfix.engine.paths import printable
from gbfix.evidence.store import find_evidence

_SOURCES = (".py", ".pyi", ".ipynb")


def project_root() -> Path:
    """The folder whose files are the project's own: the repository around the current folder, else that folder.

    Raises GbfixError when the current folder was removed.
    """
    try:
        return repository_root(Path()) or Path(os.path.realpath(Path.cwd()))
    except FileNotFoundError as error:
        raise GbfixError("the current folder was removed; go to another one") from error


def evidence_target(wanted: Path | None, root: Path, *, overlay: bool = False) -> Path:
    """Where the evidence goes: the file that was named, else .gbfix/evidence.json at the root. Raises WriteError.

    A run with the overlay shows copies and not their originals, whose evidence `gbfix apply --overlay` still needs.
    """
    if wanted is None:
        data_folder(root)
        usual = find_evidence(root)
        target = usual.with_name("evidence-overlay.json") if overlay else usual
        refuse_link(target)
        return target
    check_writable(wanted, "--evidence evidence.json")
    return wanted


def check_writable(path: Path, example: str) -> None:
    """Raise WriteError for a file that cannot be written, and for a source: with FILE forgotten, CMD would be FILE."""
    if path.suffix in _SOURCES or path.is_dir():
        raise WriteError(f"{printable(path)}: no report goes there; name another file, such as {example}")
    if not path.parent.is_dir():
        raise WriteError(f"{printable(path)}: there is no folder {printable(path.parent)}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise WriteError(f"{printable(path)}: cannot be written; choose another file")
