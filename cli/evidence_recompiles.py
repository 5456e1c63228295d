"""What was compiled again in a recorded run, as rules read it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from gbfix.analysis.recompiles import EntrySeen, Line, RecompileSeen
from gbfix.evidence.model import Entry, Evidence, Place, Recompile

_DYNAMIC = {"True": True, "False": False}


def recompiles_by_file(evidence: Evidence, names: Mapping[str, str]) -> dict[str, tuple[RecompileSeen, ...]]:
    """The recompiles of functions in these files, by the files' names on the screen.

    names: those, by the names of the evidence; of files that are as they were at the time of the run.
    """
    compiles = compiles_of(evidence)
    found: dict[str, list[RecompileSeen]] = defaultdict(list)
    for row in evidence.recompiles:
        if row.place.file in names:
            entries = [entry for entry in evidence.entries if entry.function in row.entries]
            found[names[row.place.file]].append(_seen(row, entries, compiles[_code(row.place)], names))
    return {file: tuple(rows) for file, rows in found.items()}


def compiles_of(evidence: Evidence) -> Counter[Place]:
    """How often one process compiled each code object; functions go by their bare names."""
    each = Counter((_code(fragment.place), fragment.process) for fragment in evidence.fragments)
    most: Counter[Place] = Counter()
    for (place, _), count in each.items():
        most[place] = max(most[place], count)
    return most


def _code(place: Place) -> Place:
    return Place(place.file, place.line, place.function.rpartition(".")[2])


def _seen(row: Recompile, entries: list[Entry], compiles: int, names: Mapping[str, str]) -> RecompileSeen:
    return RecompileSeen(
        at=Line(names[row.place.file], row.place.line),
        function=row.place.function.rpartition(".")[2],
        kind=row.kind,
        guard=row.guard,
        source_name=row.source_name,
        dimension=row.dimension,
        values=row.values,
        owner=_line(row.owner, names),
        count=row.count,
        compiles=max(compiles, row.count + 1),
        limit_hit=row.limit_hit,
        entries=tuple(_entry(entry, names) for entry in entries),
    )


def _entry(entry: Entry, names: Mapping[str, str]) -> EntrySeen:
    return EntrySeen(
        entry.function,
        _line(entry.defined, names),
        _line(entry.compiled_at, names),
        entry.fullgraph,
        _DYNAMIC.get(entry.dynamic),
        entry.calls,
        tuple(seen.values for seen in entry.arguments),
    )


def _line(place: Place | None, names: Mapping[str, str]) -> Line | None:
    return None if place is None else Line(names.get(place.file, place.file), place.line)
