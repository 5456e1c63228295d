"""The files that `gbfix fix` works on: as they are on disk, and as they are planned by now."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path

from gbfix.cli.apply_check import Originals
from gbfix.cli.check_versions import Change, Changes, Version
from gbfix.cli.inputs import Inputs
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Entry, FileOutcome, Outcome
from gbfix.cli.positions import moved
from gbfix.engine.atomic import Rewrite
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import SourceText, encode_source, read_source
from gbfix.engine.model import Finding, GbfixError


@dataclass(frozen=True)
class Texts:
    """Files by their names on the screen: what they hold, and what has been planned for those that shall change.

    made: the fixes that lead from one to the other, at the lines of the original.
    """

    originals: Mapping[str, SourceText] = field(default_factory=dict)
    planned: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)

    def with_files(self, paths: Iterable[Path]) -> Texts:
        """With these files as well, as they are. What cannot be read as Python is left out: no rule could edit it."""
        originals = dict(self.originals)
        for path in paths:
            name = display_name(path)
            if name not in originals:
                try:
                    originals[name] = read_source(path)
                except GbfixError:
                    continue
        return replace(self, originals=originals)

    def with_outcome(self, outcome: Outcome) -> Texts:
        """With what an outcome would write."""
        planned, made = dict(self.planned), dict(self.made)
        for file in outcome.files:
            if file.changed:
                planned[file.name] = file.after
                made[file.name] = (*made.get(file.name, ()), *self._at_original(file))
        return replace(self, planned=planned, made=made)

    def inputs(self) -> Inputs:
        """The files as they are planned, in order."""
        return Inputs(tuple(self._source(name) for name in sorted(self.originals)), ())

    def read(self, path: Path) -> SourceText:
        """A file as it is planned. Raises SourceError."""
        name = display_name(path)
        return self._source(name) if name in self.originals else read_source(path)

    def rewrites(self) -> list[Rewrite]:
        """The files that shall change, for a run with copies of them."""
        return [
            Rewrite(real_path(source), encode_source(source, source.text), encode_source(source, self.planned[name]))
            for name, source in self._changed()
        ]

    def files(self) -> tuple[FileOutcome, ...]:
        """All files from original to plan, without what is left to find in them."""
        return tuple(
            FileOutcome(
                source,
                self.planned.get(name, source.text),
                tuple(sorted(self.made.get(name, ()), key=lambda entry: entry.finding.span)),
            )
            for name, source in sorted(self.originals.items())
        )

    def changes(self) -> Changes:
        """Both versions of every file that shall change, by real path."""
        return {
            real_path(source): Change(
                Version(source.text),
                Version(self.planned[name], ""),
                tuple(entry.finding for entry in self.made.get(name, ())),
            )
            for name, source in self._changed()
        }

    def finding(self, name: str, finding: Finding) -> Finding:
        """A finding in the planned text of a file, at its lines in the original; of other files nothing is planned."""
        if name not in self.originals:
            return finding
        return moved(finding, self._source(name).text, self.originals[name].text)

    def _at_original(self, file: FileOutcome) -> Iterable[Entry]:
        return (replace(entry, finding=self.finding(file.name, entry.finding)) for entry in file.applied)

    def _changed(self) -> list[tuple[str, SourceText]]:
        return [
            (name, source)
            for name, source in sorted(self.originals.items())
            if self.planned.get(name, source.text) != source.text
        ]

    def _source(self, name: str) -> SourceText:
        source = self.originals[name]
        return replace(source, text=self.planned.get(name, source.text))


@dataclass
class FirstOriginals(Originals):
    """Fixes are checked against the files on disk, with all that was planned before.

    allowed: raises GbfixError when what is planned could not be written: no check is then made in vain.
    """

    texts: Texts
    allowed: Callable[[Texts], None]

    def changes(self, outcome: Outcome) -> Changes:
        """Both versions of all files, with what an outcome adds."""
        planned = self.texts.with_outcome(outcome)
        self.allowed(planned)
        return planned.changes()

    def finding(self, name: str, finding: Finding) -> Finding:
        """A finding in the planned text of a file, at its lines on disk."""
        return self.texts.finding(name, finding)


def real_path(source: SourceText) -> Path:
    """The file of a text, symbolic links resolved."""
    return Path(os.path.realpath(source.path))
