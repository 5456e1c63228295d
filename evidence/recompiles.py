"""Recompiles: one row for each guard that failed on a code object.

The record of a recompilation lists the failed guard of every cached compilation, the newest first; only the newest
says what changed since the last call. The recompile limit (GB0039) is no graph break but marks its row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gbfix.evidence.guards import Guard, read_guard
from gbfix.evidence.model import Place, Recompile
from gbfix.evidence.places import Places
from gbfix.evidence.records import CompiledFrame, Records
from gbfix.evidence.stack import innermost, plain_function, resumed
from gbfix.evidence.steady import cost, once_per_call, share


def given_up(recompiles: Iterable[Recompile]) -> frozenset[Place]:
    """The functions that PyTorch compiled so often that it gave them up, each once however many guards failed."""
    return frozenset(row.place for row in recompiles if row.limit_hit)


@dataclass
class _Row:
    guard: Guard
    place: Place
    owner: Place | None
    events: list[tuple[Records, CompiledFrame]] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    limit_hit: bool = False


def read_recompiles(processes: Iterable[Records], places: Places) -> tuple[Recompile, ...]:
    """One row for each code object, kind and guarded value, in the order in which they first happened.

    Sizes and strides of different dimensions, and different expressions, have rows of their own.
    """
    rows: dict[tuple[object, ...], _Row] = {}
    for records in processes:
        for frame in records.frames:
            if not frame.guards_failed and not (frame.over_limit and frame.later_shape):
                continue
            guard = read_guard(frame.guards_failed)
            place = Place(places.file(frame.file, records.folder), frame.line, plain_function(frame.function))
            expression = guard.text if guard.kind in ("shape_expression", "other") else ""
            key = (place, frame.function, guard.kind, guard.source_name, guard.index, expression)
            row = rows.setdefault(key, _Row(guard, place, _owner(guard, records, frame, places)))
            row.events.append((records, frame))
            row.limit_hit = row.limit_hit or frame.over_limit
            for value in (guard.expected, guard.actual or _argument(guard, records, frame)):
                if value and value not in row.values:
                    row.values.append(value)
    return tuple(_recompile(row, places) for row in rows.values())


def _recompile(row: _Row, places: Places) -> Recompile:
    ranks = {records.rank for records, _ in row.events if records.rank is not None}
    names = (name for records, frame in row.events if (name := records.entry_name(frame)))
    shares = []
    for records in {id(records): records for records, _ in row.events}.values():
        codes = {frame.code for its, frame in row.events if its is records}
        compiled = [frame for frame in records.frames if frame.code in codes]
        its_share = share(records, compiled)
        shares.append(once_per_call(records, compiled) if row.limit_hit and not its_share.hits else its_share)
    return Recompile(
        place=row.place,
        guard=row.guard.text,
        kind=row.guard.kind,
        source_name=row.guard.source_name,
        values=tuple(row.values),
        owner=row.owner,
        source=places.source(row.owner or row.place),
        entries=tuple(dict.fromkeys(names)),
        ranks=tuple(sorted(ranks)),
        count=len(row.events),
        limit_hit=row.limit_hit,
        cost=cost(shares),
        dimension=row.guard.index,
    )


def _owner(guard: Guard, records: Records, frame: CompiledFrame, places: Places) -> Place | None:
    """The line that reads the guarded value: from its stack, from the comment of the guard, or the function itself.

    A local of a function that is no resume function is one of its parameters, since guards look at what a call
    brought along.
    """
    if users := innermost(guard.stack, places.root):
        return places.place(users, records.folder)
    if guard.comment_origin is not None and (file := _known_file(guard.comment_origin.file, records, frame)):
        origin = guard.comment_origin
        return Place(places.file(file, records.folder), origin.line, plain_function(origin.function))
    if guard.local and resumed(frame.function) is None:
        return Place(places.file(frame.file, records.folder), frame.line, frame.function)
    return None


def _known_file(tail: str, records: Records, frame: CompiledFrame) -> str | None:
    """The compiled file that a path in a comment means; torch cuts the first characters off such paths."""
    files = dict.fromkeys((frame.file, *(other.file for other in records.frames)))
    return next((file for file in files if file and file.endswith(tail)), None)


def _argument(guard: Guard, records: Records, frame: CompiledFrame) -> str:
    """The new value of a guarded argument, when the call that was compiled anew was noted."""
    entry = records.entries.get(frame.entry) if frame.entry is not None else None
    if entry is None or guard.kind != "value" or guard.source_name != guard.local:
        return ""
    if (entry.get("function_file"), entry.get("function_line")) != (frame.file, frame.line):
        return ""
    for call in records.calls:
        if (call.get("entry"), call.get("call")) == (frame.entry, frame.call):
            return str(((call.get("arguments") or {}).get(guard.source_name) or {}).get("value") or "")
    return ""
