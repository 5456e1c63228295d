"""Notes of a run in which copies stood in for files, told as if the files themselves had held that text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gbfix.evidence.records import Note


def of_originals(notes: Iterable[Note], copies: Mapping[Path, Path]) -> Iterator[Note]:
    """The notes with the name of each original in place of its copy's, in texts such as guards and tracebacks, too.

    copies: by original, both absolute and free of symbolic links.
    """
    names = {str(copy): str(original) for original, copy in copies.items()}
    for note in notes:
        yield _renamed(note, names)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 (what JSON holds)
    if isinstance(value, str):
        for copy, original in names.items():
            if copy in value:
                value = value.replace(copy, original)
        return value
    if isinstance(value, list):
        return [_renamed(each, names) for each in value]
    if isinstance(value, dict):
        return {name: _renamed(each, names) for name, each in value.items()}
    return value
