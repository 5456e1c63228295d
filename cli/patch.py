"""The patch of a run, as the bytes that `git apply` compares with the files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gbfix.cli.outcome import FileOutcome
from gbfix.engine.diff import unified_diff
from gbfix.engine.files import SourceText, encode_source
from gbfix.engine.undo import undo_root


def patch_of(files: Sequence[FileOutcome]) -> bytes:
    """One patch for all changed files, with paths from their repository.

    Raises SourceError when a text does not fit its file's encoding.
    """
    changed = [file for file in files if file.changed]
    root = Path(os.path.realpath(undo_root([file.source.path for file in changed])))
    parts = (unified_diff(_path(root, file), *_texts(file)) for file in changed)
    return "".join(parts).encode("utf-8", "surrogateescape")


def _path(root: Path, file: FileOutcome) -> str:
    """Git does not patch through a symbolic link, so it is the file behind it that counts."""
    return Path(os.path.realpath(file.source.path)).relative_to(root).as_posix()


def _texts(file: FileOutcome) -> tuple[str, str]:
    return _bytes_as_text(file.source, file.source.text), _bytes_as_text(file.source, file.after)


def _bytes_as_text(source: SourceText, text: str) -> str:
    """Bytes that are not UTF-8 become surrogates, and so find their way into the patch as they are."""
    return encode_source(source, text).decode("utf-8", "surrogateescape")
