"""Compiled entries, folded over processes: notes "entry", "call" and "calls", and what their calls compiled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from gbfix.analysis.observations import ValueSpec
from gbfix.evidence.model import ArgumentsSeen, Entry, Place
from gbfix.evidence.places import Places
from gbfix.evidence.records import Note, Records


def read_entries(processes: Iterable[Records], places: Places) -> tuple[Entry, ...]:
    """One row for each function, place of the compile call and options, in the order in which they were compiled.

    Calls, graphs and operations of processes add up; those of ranks, which run the same program, do not: the rank with
    the most counts.
    """
    rows: dict[Entry, list[tuple[Records, int]]] = {}
    for records in processes:
        for identity, note in records.entries.items():
            rows.setdefault(_row(note, records, places), []).append((records, identity))
    return tuple(_counted(row, seen) for row, seen in rows.items())


def _row(note: Note, records: Records, places: Places) -> Entry:
    return Entry(
        function=str(note.get("function") or ""),
        defined=_place(note, "function_", str(note.get("function") or ""), records, places),
        compiled_at=_place(note, "", "", records, places),
        backend=str(note.get("backend") or ""),
        fullgraph=bool(note.get("fullgraph")),
        dynamic=str(note.get("dynamic") if note.get("dynamic") is not None else ""),
    )


def _place(note: Note, prefix: str, function: str, records: Records, places: Places) -> Place | None:
    file, line = note.get(f"{prefix}file"), note.get(f"{prefix}line")
    return Place(places.file(str(file), records.folder), int(str(line)), function) if file and line else None


def _counted(row: Entry, seen: list[tuple[Records, int]]) -> Entry:
    by_rank: dict[int | None, list[int]] = {}
    for records, identity in seen:
        compiled = [frame for frame in records.frames if frame.entry == identity]
        counts = by_rank.setdefault(records.rank, [0, 0, 0])
        counts[0] += records.calls_of(identity)
        counts[1] += sum(frame.graph and not frame.fail_reason for frame in compiled)
        counts[2] += sum(frame.operations for frame in compiled)
    calls, graphs, operations = map(max, zip(*by_rank.values(), strict=True))
    saved = next((records.modules[identity] for records, identity in seen if identity in records.modules), "")
    return replace(row, calls=calls, graphs=graphs, operations=operations, arguments=_arguments(seen), saved=saved)


def _distinct(integers: Iterable[dict[str, tuple[int, ...]]]) -> tuple[dict[str, tuple[int, ...]], ...]:
    return tuple({repr(one): one for one in integers}.values())


def _arguments(seen: list[tuple[Records, int]]) -> tuple[ArgumentsSeen, ...]:
    found: dict[bytes, ArgumentsSeen] = {}
    for records, identity in seen:
        for note in records.calls:
            if note.get("entry") != identity:
                continue
            try:
                values = msgspec.convert(note.get("arguments") or {}, dict[str, ValueSpec])
            except msgspec.ValidationError as error:
                name = records.entries[identity].get("function") or "a compiled function"
                records.problems.append(f"the arguments of a call of {name} cannot be read: {error}")
                continue
            key = msgspec.json.encode(values)
            count = records.repeats.get((identity, str(note.get("call"))), 1)
            kept = records.integers.get((identity, str(note.get("call"))), [])
            before = found.get(key, ArgumentsSeen(values, 0))
            integers = (*before.integers, *({path: tuple(numbers) for path, numbers in one.items()} for one in kept))
            found[key] = ArgumentsSeen(values, before.calls + count, integers=_distinct(integers))
    return tuple(found.values())
