"""The observations of this process: each distinct one is written once, and how often it was seen."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field

from gbfix.evidence.journal import Journal

MAX_DISTINCT = 64


@dataclass
class _Place:
    seen: dict[str, _Seen] = field(default_factory=dict)
    unwatched: bool = False


@dataclass
class _Seen:
    id: int
    count: int = 1
    written: int = 0


class Facts:
    """Writes "observation", "observed" and "unwatched" notes; safe to use from several threads.

    A count is the total so far. It is written when it has doubled, so that a killed process loses at most half, and at
    the end.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.RLock()
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._places: dict[tuple[str, int], _Place] = {}
        self._next = 0

    def add(self, file: str, line: int, **facts: object) -> bool:
        """Note one observation at a line; True when there was none like it."""
        text = json.dumps(facts, default=str)
        with self._lock:
            if os.getpid() != self._pid:  # a forked child has a journal of its own, without what its parent wrote
                self._start()
            place = self._places.setdefault((file, line), _Place())
            seen = place.seen.get(text)
            if seen is not None:
                seen.count += 1
                if seen.count >= 2 * max(seen.written, 1):
                    self._write_count(seen)
                return False
            if len(place.seen) < MAX_DISTINCT:
                seen = place.seen[text] = _Seen(self._next)
                self._next += 1
                self._journal.write("observation", id=seen.id, file=file, line=line, **facts)
                self._write_count(seen)
                return True
        self.unwatched(file, line, f"more than {MAX_DISTINCT} different observations")
        return True

    def unwatched(self, file: str, line: int, reason: str) -> None:
        """Note, once, that a line has runs nobody observed."""
        with self._lock:
            place = self._places.setdefault((file, line), _Place())
            if not place.unwatched:
                place.unwatched = True
                self._journal.write("unwatched", file=file, line=line, reason=reason)

    def settle(self, file: str, line: int, runs: int, changed_at: int) -> None:
        """End the watching of a line after so many runs, of which `changed_at` was the last that showed something new.

        Facts that no longer changed count as those of all later runs; others do not.
        """
        if changed_at > runs // 2:
            self.unwatched(file, line, f"still changing after {runs} runs")
        else:
            self._journal.write("settled", file=file, line=line, runs=runs)

    def flush(self) -> None:
        """Write the counts that have grown since they were last written."""
        with self._lock:
            if os.getpid() != self._pid:
                return
            for place in self._places.values():
                for seen in place.seen.values():
                    if seen.count != seen.written:
                        self._write_count(seen)

    def _write_count(self, seen: _Seen) -> None:
        seen.written = seen.count
        self._journal.write("observed", id=seen.id, count=seen.count)
