"""What names held at lines of the program, folded over processes: notes "observation", "observed" and "unwatched"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from gbfix.analysis.observations import Observation
from gbfix.evidence.model import Change, Place
from gbfix.evidence.places import Places
from gbfix.evidence.records import Note, Records


def read_observations(processes: Iterable[Records], places: Places) -> tuple[Observation, ...]:
    """Each set of facts once, with how often exactly these were seen in all processes, in order of first sight."""
    found: dict[bytes, Observation] = {}
    for records in processes:
        for identity, note in records.observations.items():
            seen = _observation(note, records, places)
            if seen is None:
                continue
            key = msgspec.json.encode(seen)
            count = max(records.counts.get(identity, 1), 1)
            before = found[key].count if key in found else 0
            found[key] = replace(seen, count=before + count)
    return tuple(found.values())


def read_unwatched(processes: Iterable[Records], places: Places) -> tuple[Place, ...]:
    """The lines of which not all runs were observed."""
    return _lines(((records, note) for records in processes for note in records.unwatched), places)


def read_settled(processes: Iterable[Records], places: Places) -> tuple[Place, ...]:
    """The lines of which only the first runs were observed."""
    return _lines(((records, note) for records in processes for note in records.settled), places)


def read_reached(processes: Iterable[Records], places: Places, how: str) -> tuple[Place, ...]:
    """The lines that were reached in this way, as `begun` tells them apart."""
    notes = ((records, note) for records in processes for note in records.reached if note.get("how") == how)
    return _lines(notes, places)


def read_changes(processes: Iterable[Records], places: Places) -> tuple[Change, ...] | None:
    """What the traced functions change that outlives them, in order of first sight; None unless all were looked at."""
    found: list[Change] = []
    for records in processes:
        if records.torch and not records.looked:
            return None
        found += [
            Change(_place(note, records, places), str(note["change"]), bool(note.get("raises")))
            for note in records.changes
        ]
    return tuple(dict.fromkeys(found))


def _lines(notes: Iterable[tuple[Records, Note]], places: Places) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(_place(note, records, places) for records, note in notes))


def _place(note: Note, records: Records, places: Places) -> Place:
    return Place(places.file(str(note["file"]), records.folder), int(note["line"]), str(note.get("function") or ""))


def _observation(note: Note, records: Records, places: Places) -> Observation | None:
    facts = {name: value for name, value in note.items() if name not in ("kind", "id")}
    try:
        seen = msgspec.convert({**facts, "count": 0}, Observation)
    except msgspec.ValidationError as error:
        records.problems.append(f"values noted at {note.get('file')}:{note.get('line')} cannot be read: {error}")
        return None
    return replace(seen, file=places.file(seen.file, records.folder))
