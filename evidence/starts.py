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
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from gbfix.evidence.describe import MAX_ITEMS, SCALARS, describe, source_text
from gbfix.evidence.facts import Facts
from gbfix.evidence.frame_values import SNAPSHOTS, outline
from gbfix.evidence.lookup import MISSING, path_value

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
        values = {name: held[local] for name, local in self.locals.items() if local in held}
        for path in self.facts["unguarded"]:
            values[path] = path_value(values, path) if "." in path else values.get(path, MISSING)
        for name in list(values):
            local = self.locals.get(name.partition(".")[0], "")
            if values[name] is MISSING or _is_shared(values[name], local, held):
                del values[name]
        found = {name: describe(value) for name, value in values.items()}
        read = {name: outline(facts) if name in self.outlined else facts for name, facts in found.items()}
        unguarded = [name for name in self.facts["unguarded"] if name not in read]
        return {**self.facts, "values": {**self.facts["values"], **read}, "unguarded": unguarded}

    def note(self, facts: Facts) -> None:
        """Note what is known without reading any start."""
        facts.add(self.file, self.line, **self.facts)

    def note_of_one_call(self, facts: Facts) -> None:
        """Note what is known of a call for which nothing was compiled: there is no graph that another call reuses."""
        facts.add(self.file, self.line, **{**self.facts, "unguarded": []})


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
        """End the reading, see `Facts.settle`."""
        for (file, line), run in self.changed_at.items():
            facts.settle(file, line, self.runs, run)

    def unwatched(self, facts: Facts, reason: str) -> None:
        """Note that the function started without being read."""
        for waiting in self.opens:
            facts.unwatched(waiting.file, waiting.line, reason)


def _is_shared(value: object, local: str, held: Mapping[str, object]) -> bool:
    """Whether another local leads to the same objects: the function may have changed them under that name."""
    own = _objects(value)
    return any(name != local and not own.isdisjoint(_objects(other)) for name, other in held.items())


def _objects(value: object, depth: int = 2) -> set[int]:
    """What can be changed in place, by its id: a value, and what plain containers among it hold."""
    if type(value) in SCALARS:
        return set()
    found = {id(value)} if type(value) is not tuple else set()
    if depth and type(value) in (list, tuple, dict):
        items: Any = value
        for item in islice(list(items.values() if type(value) is dict else items), MAX_ITEMS):
            found |= _objects(item, depth - 1)
    return found


def open_locals(unguarded: list[str], variables: Mapping[str, Any]) -> dict[str, str]:
    """The names, of those that no guard holds, that are a local of the frame as it was at its start."""
    found = {}
    for name in unguarded:
        source = getattr(getattr(variables.get(name), "_cache", None), "source", None)
        local = LOCAL.fullmatch(source_text(source))
        if local is not None and not getattr(source, "is_derefed_cell_contents", False):
            found[name] = local[1]
    return found
