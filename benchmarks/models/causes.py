"""Count the sites that break in the libraries of today by their cause, before and after `gbfix fix`.

    python benchmarks/models/causes.py

Reads results.json, which sweep.py writes, prints a table and puts it into benchmarks/RESULTS.md. causes.json says how
a site is recognised, how much a rewrite of it needs (see `_EXPLANATION`), and which sites a survey of 119 models of
transformers 5.24.0 found. A site is a file and the text of its line, over all rows, since numbers of lines move with a
fix. It is removed when no row breaks there afterwards. Exits 1 when a site has no cause.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compare import Compared
from report import cell, from_document, put_section, reason_of

HERE = Path(__file__).resolve().parent
BEGIN = "<!-- begin: benchmarks/models/causes.py -->"
END = "<!-- end: benchmarks/models/causes.py -->"
SUITES = ("today", "diffusers", "torchvision")
COUNTED = ("A", "B", "C")
_EXPLANATION = """\
The sites that break in the libraries of today, by cause. A site is a file and the text of its line, over all rows. \
A: it can be rewritten mechanically at that place; B: it needs judgement, data flow over functions, or another API; \
C: no rewrite of the source there helps. Not counted are -, which breaks because something before it does, and D, \
where gbfix left a break on purpose and marked it: the site that it stands for counts as removed."""

Site = tuple[str, str]


@dataclass(frozen=True)
class Cause:
    """Why code breaks. signs: ends of file names, and regular expressions for the line. sample: of the survey."""

    name: str
    kind: str
    signs: tuple[tuple[str, re.Pattern[str]], ...]
    sample: frozenset[Site] = frozenset()

    def explains(self, site: Site) -> bool:
        """Whether one of the signs is there."""
        return any(site[0].endswith(file) and source.search(site[1]) for file, source in self.signs)


UNKNOWN = Cause("WITHOUT A CAUSE", "?", (("", re.compile("")),))
"""Takes what no other cause explains."""


@dataclass
class Counted:
    """The sites of a cause. left: those that still break, with what gbfix says; new: that break only afterwards."""

    before: set[Site] = field(default_factory=set)
    left: dict[Site, str] = field(default_factory=dict)
    new: dict[Site, str] = field(default_factory=dict)


Found = dict[Cause, Counted]


def main() -> int:
    """Print the section and write it; the exit status."""
    rows = from_document(json.loads((HERE / "results.json").read_text()))
    found = count(rows, read_causes(HERE / "causes.json"))
    text = markdown(found)
    print(text)
    put_section(HERE.parent / "RESULTS.md", BEGIN, END, text)
    unknown = sorted(found[UNKNOWN].before | found[UNKNOWN].new.keys())
    for file, source in unknown:
        print(f"causes: NO CAUSE IN causes.json: {file}: {source}", file=sys.stderr)
    return 1 if unknown else 0


def read_causes(path: Path) -> list[Cause]:
    """The causes of the data file, and that of the rest; the first that explains a site is its cause."""
    causes = []
    for entry in json.loads(path.read_text())["causes"]:
        signs = tuple((sign.get("file", ""), re.compile(sign["source"])) for sign in entry["signs"])
        sample = frozenset((file, source) for file, source in entry["sample"])
        causes.append(Cause(entry["cause"], entry["kind"], signs, sample))
    return [*causes, UNKNOWN]


def count(rows: Iterable[Compared], causes: Sequence[Cause]) -> Found:
    """The sites of each cause."""
    before: set[Site] = set()
    after: dict[Site, tuple[list[str], list[str]]] = {}
    for row in rows:
        if not row.error and row.row.suite in SUITES:
            before |= {site_of(place) for counts in row.before.values() for place in counts.at}
            for place in sorted({place for counts in row.after.values() for place in counts.at}):
                names, reasons = after.setdefault(site_of(place), ([], []))
                names.append(row.row.name)
                reasons.append(reason_of(row, place))
    found = {cause: Counted() for cause in causes}
    for site in sorted(before | after.keys()):
        counted = found[next(cause for cause in causes if cause.explains(site))]
        if site in before:
            counted.before.add(site)
        if site in after:
            names, reasons = after[site]
            why = f"{', '.join(dict.fromkeys(names))}: {next(filter(None, reasons), 'gbfix says nothing')}"
            (counted.left if site in before else counted.new)[site] = why
    return found


def site_of(place: str) -> Site:
    """The site that a measurement names as `file:number: text`."""
    file, _, rest = place.partition(":")
    return file, rest.partition(": ")[2]


def markdown(found: Found) -> str:
    """The section."""
    lines = ["## Causes", "", "    python benchmarks/models/causes.py", "", _EXPLANATION, ""]
    lines += ["| cause | kind | sites | removed | left | only afterwards |", "|---|---|---|---|---|---|"]
    for cause, each in found.items():
        if each.before or each.new:
            removed = len(each.before) - len(each.left)
            counts = (len(each.before), removed, len(each.left), len(each.new))
            lines.append(f"| {cause.name} | {cause.kind} | {' | '.join(map(str, counts))} |")
    lines += ["", f"{', '.join(total(kind, found) for kind in COUNTED)}.", f"Of a survey {reached(found)}."]
    for title, attribute in (("Sites left", "left"), ("Sites that break only afterwards", "new")):
        lines += ["", f"### {title}", ""]
        for cause, each in found.items():
            for (file, source), why in getattr(each, attribute).items():
                lines.append(f"- {cause.kind}, {cause.name}: `{file}`: `{cell(source)}`: {cell(why)}")
    return "\n".join(lines)


def total(kind: str, found: Found) -> str:
    """How much of a kind was removed."""
    here = [each for cause, each in found.items() if cause.kind == kind]
    before = sum(len(each.before) for each in here)
    return f"{kind}: {before - sum(len(each.left) for each in here)} of {before} removed"


def reached(found: Found) -> str:
    """How much of the survey the rows meet, and how much of that was removed."""
    parts = []
    for kind in COUNTED:
        here = [(cause.sample, each) for cause, each in found.items() if cause.kind == kind]
        met = sum(len(each.before & sample) for sample, each in here)
        left = sum(len(each.left.keys() & sample) for sample, each in here)
        parts.append(f"{met} of {sum(len(sample) for sample, _ in here)} of {kind} ({met - left} removed)")
    return f"of 119 models of transformers 5.24.0 the rows reach {', '.join(parts)}"


if __name__ == "__main__":
    sys.exit(main())
