"""Which findings a run calls for: those at lines that it showed to run, break or be compiled again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from gbfix.cli.fix_files import is_own
from gbfix.cli.names import display_name
from gbfix.cli.statements import last_lines, making_lines
from gbfix.engine.model import Finding, Span
from gbfix.evidence.model import Evidence, Place
from gbfix.evidence.places import Places


class Shown:
    """The lines of one run, by the names of their files on the screen."""

    def __init__(self, evidence: Evidence, texts: Mapping[str, str]) -> None:
        """`texts` are those of the files that ran, by their names on the screen."""
        self._root = Path(evidence.root)
        places = Places(self._root)
        self._names: dict[str, str] = {}
        self._lines: set[tuple[str, int]] = set()
        self._functions: set[tuple[str, str]] = set()
        for file, lines, function in _seen(evidence):
            path = Path(os.path.realpath(places.path(file)))
            name = self._names.setdefault(file, display_name(path))
            ends = last_lines(texts[name]) if name in texts else {}
            last = ends.get(lines[-1], lines[-1]) if len(lines) == 1 else lines[-1]
            made = making_lines(texts[name], lines[0]) if name in texts else ()
            self._lines.update((name, line) for line in (*range(lines[0], last + 1), *made))
            if function:
                self._functions.add((name, function.rpartition(".")[2]))

    def calls_for(self, name: str, finding: Finding) -> bool:
        """True for a finding at a line that ran, and in the project for one in a function of which nothing is known.

        A line that made what such a line reads ran as well. Code that never ran is left alone: no run and no check
        would try it. Once it breaks a graph, the run shows it.
        """
        edited = () if finding.fix is None else (one.span for one in finding.fix.replacements)
        if any((name, line) in self._lines for span in (finding.span, *edited) for line in _lines(span)):
            return True
        known = (name, finding.function.rpartition(".")[2]) in self._functions
        return not known and is_own(Path(os.path.realpath(name)), self._root)


def _lines(span: Span) -> range:
    return range(span.line, span.end_line + 1)


def _seen(evidence: Evidence) -> Iterator[tuple[str, range, str]]:
    """Files, lines and functions; all lines of what broke, which may be a call over several."""
    for seen in evidence.observations:
        yield seen.file, range(seen.line, seen.line + 1), seen.function
    found: list[Place | None] = [place for site in evidence.breaks for place in (site.place, site.project, *site.stack)]
    found += [place for row in evidence.recompiles for place in (row.place, row.owner)]
    found += [place for entry in evidence.entries for place in (entry.compiled_at,)]
    for place in found:
        if place is not None:
            yield place.file, range(place.line, max(place.end_line or 0, place.line) + 1), ""
