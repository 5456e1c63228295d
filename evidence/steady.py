"""How often fragments run once the program is warm, from the windows in which calls were counted.

Shares of several entries add up. Processes without a rank add up too; ranks are averaged, since each of them runs
the same program at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gbfix.evidence.model import Cost
from gbfix.evidence.records import CompiledFrame, Records


@dataclass(frozen=True)
class Share:
    """What fragments cost in one process over the whole run, when every call is like those counted.

    calls: those of the entries concerned. steady: False when no call of them was counted.
    """

    records: Records
    hits: float = 0.0
    seconds: float = 0.0
    calls: int = 0
    steady: bool = False


def share(records: Records, frames: Iterable[CompiledFrame]) -> Share:
    """The share of fragments of one process; a run belongs to the entry that compiled the fragment, if it was called.

    A fragment that another entry runs as well counts for that entry in windows of which the first had no call.
    """
    frames = list(frames)
    hits: dict[int, int] = {}
    seconds: dict[int, float] = {}
    concerned = {frame.entry for frame in frames if frame.entry is not None}
    for frame in frames:
        for run in frame.runs:
            if not run.window.calls:
                continue
            calls = run.window.calls
            entry = frame.entry if frame.entry in calls else max(calls, key=lambda called: calls[called])
            assert entry is not None
            hits[entry] = hits.get(entry, 0) + run.hits
            seconds[entry] = seconds.get(entry, 0.0) + run.seconds
            concerned.add(entry)
    counted = {entry: sum(window.calls.get(entry, 0) for window in records.windows) for entry in concerned}
    warm = {entry: records.calls_of(entry) for entry in concerned if counted[entry]}
    return Share(
        records,
        sum(hits.get(entry, 0) / counted[entry] * calls for entry, calls in warm.items()),
        sum(seconds.get(entry, 0.0) / counted[entry] * calls for entry, calls in warm.items()),
        sum(warm.values()),
        bool(warm),
    )


def once_per_call(records: Records, frames: Iterable[CompiledFrame]) -> Share:
    """The share of frames that run in Python: no event counts them, so that once per call of their entry is taken."""
    known = share(records, frames)
    return Share(records, float(known.calls), 0.0, known.calls, known.steady)


def cost(shares: Sequence[Share]) -> Cost:
    """The shares of all processes in one."""
    steady = [each for each in shares if each.steady]
    calls = sum(each.calls for each in steady)
    if not calls:
        return Cost()
    ranks = len({each.records.rank for each in steady if each.records.rank is not None})
    return Cost(
        True,
        sum(each.hits for each in steady) / calls,
        round(calls / max(ranks, 1)),
        sum(each.seconds for each in steady) / calls,
    )
