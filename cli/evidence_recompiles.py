"""What was compiled again in a recorded run, as rules read it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from gbfix.analysis.recompiles import EntrySeen, Line, RecompileSeen
from gbfix.evidence.model import Entry, Evidence, Place, Recompile

_DYNAMIC = {"True": True, "False": False}


def recompiles_by_file(evidence: Evidence, names: Mapping[str, str]) -> dict[str, tuple[RecompileSeen, ...]]:
    """The recompiles of functions that are in these files, or are compiled there, by file.

    names: of the files on the screen, by those of the evidence; only files that are as they were at the time of the
    run. A file that is not among them keeps its name.
    """
    compiles = compiles_of(evidence)
    found: dict[str, list[RecompileSeen]] = defaultdict(list)
    for row in evidence.recompiles:
        entries = [entry for entry in evidence.entries if entry.function in row.entries]
        compiled_at = [entry.compiled_at.file for entry in entries if entry.compiled_at is not None]
        if any(file in names for file in (row.place.file, *compiled_at)):
            file = names.get(row.place.file, row.place.file)
            found[file].append(_seen(row, entries, compiles, names))
    return {file: tuple(rows) for file, rows in found.items()}


def compiles_of(evidence: Evidence) -> Counter[tuple[Place, str]]:
    """How often one process compiled each code object for each entry; functions go by their bare names."""
    each = Counter((_code(fragment.place), fragment.entry, fragment.process) for fragment in evidence.fragments)
    most: Counter[tuple[Place, str]] = Counter()
    for (place, entry, _), count in each.items():
        most[place, entry] = max(most[place, entry], count)
    return most


def _code(place: Place) -> Place:
    return Place(place.file, place.line, place.function.rpartition(".")[2])


def _seen(
    row: Recompile, entries: list[Entry], compiles: Counter[tuple[Place, str]], names: Mapping[str, str]
) -> RecompileSeen:
    code = _code(row.place)
    whole = sum(count for (place, _), count in compiles.items() if place == code)
    return RecompileSeen(
        at=Line(names.get(row.place.file, row.place.file), row.place.line),
        function=row.place.function.rpartition(".")[2],
        kind=row.kind,
        guard=row.guard,
        source_name=row.source_name,
        dimension=row.dimension,
        values=row.values,
        owner=_line(row.owner, names),
        count=row.count,
        compiles=max(whole, row.count + 1),
        limit_hit=row.limit_hit,
        entries=tuple(_entry(entry, compiles[code, entry.function], names) for entry in entries),
    )


def _entry(entry: Entry, compiles: int, names: Mapping[str, str]) -> EntrySeen:
    return EntrySeen(
        entry.function,
        _line(entry.defined, names),
        _line(entry.compiled_at, names),
        entry.fullgraph,
        _DYNAMIC.get(entry.dynamic),
        entry.calls,
        tuple(seen.values for seen in entry.arguments),
        compiles,
    )


def _line(place: Place | None, names: Mapping[str, str]) -> Line | None:
    return None if place is None else Line(names.get(place.file, place.file), place.line)
