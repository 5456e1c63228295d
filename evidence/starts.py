"""What Dynamo had no need to look at before a graph broke, read when the compiled function starts.

An argument that only one side of a branch uses is not looked at by the graph before the branch, so that no guard holds
its facts. It is still the function's own argument when the branch is reached, and its facts are there to read each time
the compiled function starts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from gbfix.evidence.describe import describe, source_text
from gbfix.evidence.facts import Facts
from gbfix.evidence.frame_values import SNAPSHOTS, outline

MAX_STARTS = 100
LOCAL = re.compile(r"L\['(\w+)'\]")
"""How a source names a local of the frame."""


@dataclass(frozen=True)
class Open:
    """An observation that lacks the facts of some names; those are what the frame's locals hold at its start.

    facts: the fields of the "observation" note. locals: by name, the local that it still is. outlined: the names that
    the statement does not mention.
    """

    file: str
    line: int
    facts: Mapping[str, Any]
    locals: Mapping[str, str]
    outlined: frozenset[str] = frozenset()

    def filled(self, held: Mapping[str, object]) -> dict[str, Any]:
        """The facts with those of the locals; names whose local has no value stay open."""
        found = {name: describe(held[local]) for name, local in self.locals.items() if local in held}
        read = {name: outline(facts) if name in self.outlined else facts for name, facts in found.items()}
        unguarded = [name for name in self.facts["unguarded"] if name.partition(".")[0] not in read]
        return {**self.facts, "values": {**self.facts["values"], **read}, "unguarded": unguarded}

    def note(self, facts: Facts) -> None:
        """Note what is known without reading any start."""
        facts.add(self.file, self.line, **self.facts)


@dataclass
class Start:
    """A compiled function whose starts are read. code: what Dynamo made of it."""

    code: CodeType
    opens: list[Open]
    runs: int = 0
    changed_at: dict[tuple[str, int], int] = field(default_factory=dict)
    """By place, the run that last showed something new."""

    def read(self, facts: Facts, frame: FrameType) -> bool:
        """Note what this start shows; False when it has been read often enough."""
        held = frame.f_locals
        names = {name: value for name, value in held.items() if isinstance(name, str)}
        if SNAPSHOTS and sys.gettrace() is None:
            held.clear()  # the frame keeps the snapshot, which would keep alive what the function deletes
        self.runs += 1
        for waiting in self.opens:
            if facts.add(waiting.file, waiting.line, **waiting.filled(names)):
                self.changed_at[waiting.file, waiting.line] = self.runs
        return self.runs < MAX_STARTS

    def settle(self, facts: Facts) -> None:
        """Facts that no longer change count as those of all later starts; others do not."""
        for (file, line), run in self.changed_at.items():
            if run > max(self.runs // 2, 1):
                facts.unwatched(file, line, f"still changing after {self.runs} starts of the compiled function")

    def unwatched(self, facts: Facts, reason: str) -> None:
        """Note that the function started without being read."""
        for waiting in self.opens:
            facts.unwatched(waiting.file, waiting.line, reason)


def open_locals(unguarded: list[str], variables: Mapping[str, Any]) -> dict[str, str]:
    """The names, of those that no guard holds, that are a local of the frame as it was at its start."""
    found = {}
    for name in unguarded:
        source = getattr(getattr(variables.get(name), "_cache", None), "source", None)
        local = LOCAL.fullmatch(source_text(source))
        if local is not None and not getattr(source, "is_derefed_cell_contents", False):
            found[name] = local[1]
    return found
