"""What the rules say about the sites of breaks: the findings in their files, and which belongs to which break."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from gbfix.analysis.preferences import DEFAULT, Preferences
from gbfix.cli.evidence_places import absolute_path, files_of
from gbfix.cli.evidence_use import is_changed, used
from gbfix.cli.inputs import Inputs
from gbfix.cli.run import Request, run
from gbfix.cli.statements import last_lines, making_lines
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import SourceText, read_source
from gbfix.engine.model import Finding, Rule, Safety, SourceError, Span
from gbfix.evidence.capabilities import installed_torch
from gbfix.evidence.model import Break, Evidence, Place, Recompile


@dataclass(frozen=True)
class Findings:
    """The findings by file, as evidence names files.

    `absent` are files that are not on this machine, `changed` those that are another text now than when the program
    ran: their lines mean nothing any more. `problems` are the files that the rules could not look at.
    """

    by_file: dict[str, tuple[Finding, ...]]
    absent: frozenset[str]
    changed: frozenset[str]
    problems: tuple[str, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    """Of each file: they tell how far the statement of a site reaches, and where what it reads was made."""

    def of(self, site: Break) -> tuple[Place, Finding] | None:
        """The finding that knows about a break, and where it is: at the site, else at the project's line.

        A fix at a call on the way to the site comes before a refusal there.
        """
        places = [place for place in (site.place, site.project) if place is not None]
        found = [(place, finding) for place in places if (finding := self._at(place)) is not None]
        calls = [
            (place, f) for place in reversed(site.stack[:-1]) for f in self._covering(place) if f.code in _OF_CALLS
        ]
        fixed = [(place, finding) for place, finding in (*found, *calls) if finding.safety is not Safety.REFUSED]
        return next(iter((*fixed, *found)), None) or self._where_made(site)

    def of_recompile(self, row: Recompile) -> tuple[Place, Finding] | None:
        """The fix for the value that a guard looks at, in the function that is compiled again; None without one."""
        name = row.source_name
        for place in (row.owner, row.place):
            for finding in self.by_file.get(place.file, ()) if place is not None and name else ():
                if finding.code.startswith(_OF_RECOMPILES) and finding.safety is not Safety.REFUSED:
                    inside = finding.function.rpartition(".")[2] == row.place.function.rpartition(".")[2]
                    if inside and re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", finding.message):
                        return Place(row.place.file, finding.span.line), finding
        return None

    def _at(self, place: Place) -> Finding | None:
        """The finding whose span covers the line; that of a branch covers its condition, not what stands below it.

        Else one whose fix edits the line, as that of a sum edits where the summed elements were selected.
        """
        last = self._last(place)
        edited = [f for f in self.by_file.get(place.file, ()) if any(_on(span, place, last) for span in _elsewhere(f))]
        covering = self._covering(place) or edited
        return min(covering, key=lambda finding: finding.span.end_line - finding.span.line, default=None)

    def _where_made(self, site: Break) -> tuple[Place, Finding] | None:
        """The fix for a size that is made before the line where it ends the graph; None without one."""
        if site.gb not in _OF_SIZES:
            return None
        lines = making_lines(self.texts.get(site.place.file, ""), site.place.line)
        for finding in self.by_file.get(site.place.file, ()):
            if finding.code == _SIZE and finding.span.line in lines and finding.safety is not Safety.REFUSED:
                return site.place, finding
        return None

    def _covering(self, place: Place) -> list[Finding]:
        last = self._last(place)
        return [finding for finding in self.by_file.get(place.file, ()) if _on(finding.span, place, last)]

    def _last(self, place: Place) -> int:
        """The last line of a site, of which Dynamo may name the first one alone."""
        return place.end_line or last_lines(self.texts.get(place.file, "")).get(place.line, place.line)


def _elsewhere(finding: Finding) -> list[Span]:
    """What a fix edits besides its own site."""
    spans = [] if finding.fix is None else [replacement.span for replacement in finding.fix.replacements]
    return [span for span in spans if not span.overlaps(finding.span)]


def _on(span: Span, place: Place, last: int) -> bool:
    return span.line <= last and place.line <= span.end_line


_OF_RECOMPILES = "GBF4"
_SIZE, _OF_SIZES = "GBF604", frozenset({"GB0033", "GB0124"})
"""The rule that edits where a size is made, and what ends the graph where it is needed."""
_OF_CALLS = frozenset({"GBF312"})
"""Rules that edit the call of a function in which the graph breaks."""


def find(
    evidence: Evidence,
    rules: tuple[Rule, ...],
    document: str = "the evidence",
    preferences: Preferences = DEFAULT,
    read: Callable[[Path], SourceText] = read_source,
    review: Callable[[str, Finding], Finding] | None = None,
) -> Findings:
    """Run the rules on the files of the evidence, with what it observed; `document` is where that is written down.

    Each nn.Module.forward is taken as compiled, since a trace without values shows no lines. read: gives the text of
    a file as it was run. review: see `Request`.
    """
    sources: dict[str, SourceText] = {}
    problems: list[str] = []
    absent, changed = set(), set()
    for file in files_of(evidence):
        path = absolute_path(evidence, file)
        if not path.is_file():
            absent.add(file)
            continue
        try:
            source = read(path)
        except SourceError as error:
            problems.append(str(error))
            continue
        if is_changed(source, evidence.hashes.get(file)):
            changed.add(file)
        else:
            sources[file] = source
    inputs = Inputs(tuple(sources.values()), tuple(problems))
    known = used(evidence, inputs, document)
    request = Request(
        rules,
        edit=False,
        assume_compiled=True,
        seen=known.seen,
        torch=installed_torch(),
        preferences=preferences,
        review=review,
    )
    outcome = run(inputs, request)
    names = {source.path: file for file, source in sources.items()}
    by_file = {names[file.source.path]: tuple(e.finding for e in file.remaining) for file in outcome.files}
    texts = {file: source.text for file, source in sources.items()}
    return Findings(by_file, frozenset(absent), frozenset(changed), outcome.problems, texts)
