"""How often fragments run once the program is warm, from the windows in which calls were counted.

Shares of several entries add up. Processes without a rank add up too; ranks are averaged, since each of them runs
the same program at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gbfix.evidence.model import Cost
from gbfix.evidence.records import CompiledFrame, Records


@dataclass(frozen=True)
class Share:
    """What fragments cost in one process over the whole run, when every call is like those counted.

    calls: all calls of the entries concerned, of which at least one was counted; empty when none was.
    """

    records: Records
    hits: float = 0.0
    seconds: float = 0.0
    calls: Mapping[int, int] = field(default_factory=dict)


def share(records: Records, frames: Iterable[CompiledFrame]) -> Share:
    """The share of fragments of one process.

    A run belongs to the entry that compiled the fragment; in a window without calls of that entry, to the one that was
    called most.
    """
    hits: dict[int, int] = {}
    seconds: dict[int, float] = {}
    concerned = set()
    for frame in frames:
        if frame.entry is not None:
            concerned.add(frame.entry)
        for run in frame.runs:
            if (entry := _entry_of(frame, run.window.calls)) is not None:
                concerned.add(entry)
                hits[entry] = hits.get(entry, 0) + run.hits
                seconds[entry] = seconds.get(entry, 0.0) + run.seconds
    counted = {entry: sum(window.calls.get(entry, 0) for window in records.windows) for entry in concerned}
    calls = {entry: records.calls_of(entry) for entry in sorted(concerned) if counted[entry]}
    return Share(
        records,
        sum(hits.get(entry, 0) / counted[entry] * made for entry, made in calls.items()),
        sum(seconds.get(entry, 0.0) / counted[entry] * made for entry, made in calls.items()),
        calls,
    )


def once_per_call(records: Records, frames: Iterable[CompiledFrame]) -> Share:
    """The share of frames that run in Python: no event counts them, so that once per call of their entry is taken."""
    known = share(records, frames)
    return Share(records, float(sum(known.calls.values())), 0.0, known.calls)


def cost(shares: Sequence[Share]) -> Cost:
    """The shares of all processes and entries in one."""
    by_process: dict[int, dict[int, int]] = {}
    for each in shares:
        by_process.setdefault(each.records.index, {}).update(each.calls)
    calls = sum(sum(entries.values()) for entries in by_process.values())
    if not calls:
        return Cost()
    ranks = len({each.records.rank for each in shares if each.calls and each.records.rank is not None})
    return Cost(
        True,
        sum(each.hits for each in shares) / calls,
        round(calls / max(ranks, 1)),
        sum(each.seconds for each in shares) / calls,
    )


def _entry_of(frame: CompiledFrame, calls: Mapping[int, int]) -> int | None:
    if frame.entry in calls:
        return frame.entry
    return max(calls, key=lambda entry: calls[entry]) if calls else None
