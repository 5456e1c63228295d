"""What came of a run, as data for the report writers."""

from __future__ import annotations

from collections.abc import Callable

from gbfix.cli.names import display_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import SourceText
from gbfix.engine.model import Finding


@dataclass(frozen=True)
class Entry:
    """A finding for a report, with the diff that its fix alone makes ("" without one)."""

    finding: Finding
    diff: str = ""


@dataclass(frozen=True)
class FileOutcome:
    """What came of one file.

    `applied` stand at their lines before any edit, `remaining` at their lines in `after`.
    """

    source: SourceText
    after: str
    applied: tuple[Entry, ...] = ()
    remaining: tuple[Entry, ...] = ()
    unused_suppressions: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The path as the user sees it."""
        return display_name(self.source.path)

    @property
    def changed(self) -> bool:
        """True when a fix was applied."""
        return self.source.text != self.after


@dataclass(frozen=True)
class Outcome:
    """What came of a whole run: the files in the order given, and one line for each problem with the others."""

    files: tuple[FileOutcome, ...]
    problems: tuple[str, ...]
    compiled_functions: int
    plain_files: int = 0
    """How many more files there were, of which there is nothing to tell."""
    notes: tuple[str, ...] = ()
    """What limits the result, one line each."""


Accept = Callable[[str, Entry], bool]
"""Asked before each fix, with the file's name."""


def accept_all(_name: str, _entry: Entry) -> bool:
    """Lets every fix be made."""
    return True
