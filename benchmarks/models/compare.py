"""What two measurements of a row say beside each other."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from places import from_library, without_machine
from table import Row

Measured = Mapping[str, Any]
MODES = ("eager", "compiled")


@dataclass(frozen=True)
class Counts:
    """One phase before or after. breaks: graphs of the first call minus one, as the peer counts. at: source lines."""

    graphs: list[int]
    breaks: int
    at: list[str]
    kinds: list[str]
    recompiles: int
    fullgraph: str
    failed: list[str] = field(default_factory=list)

    @property
    def sites(self) -> int:
        """Places that break, in any of the calls."""
        return len(self.at)


def counts_of(phase: Measured) -> Counts:
    """The figures of a measured phase."""
    graphs = list(phase["graphs"])
    places = {(entry["place"]["file"], entry["place"]["line"]): entry["place"] for entry in phase["breaks"]}
    at = [f"{place['file']}:{place['line']}: {place['source']}" for _, place in sorted(places.items())]
    kinds = sorted({entry["kind"] for entry in phase["breaks"]})
    broken_first = any(1 in entry["calls"] for entry in phase["breaks"])
    # A function that is given up as a whole may leave one graph or none, and is broken all the same.
    breaks = max(graphs[0] - 1, 1 if broken_first else 0) if graphs else 0
    return Counts(graphs, breaks, at, kinds, len(phase["recompiles"]), phase["fullgraph"], list(phase["failed"]))


@dataclass(frozen=True)
class Difference:
    """A run that does not give the same as the original. names: of what differs."""

    run: str
    mode: str
    names: list[str]


def different(before: Measured, after: Measured) -> list[Difference]:
    """Everything in the outputs, gradients, buffers, random states and messages that is not the same to the bit.

    What compiled code does may also be what Python does: then it was compiling that changed it, before the fix.
    """
    old, new = before["bits"], after["bits"]
    found = []
    for run in sorted({*old, *new}):
        for mode in MODES:
            here, there = old.get(run, {}).get(mode, {}), new.get(run, {}).get(mode, {})
            names = [name for name in sorted({*here, *there}) if here.get(name) != there.get(name)]
            if names and there != old.get(run, {}).get("eager"):
                found.append(Difference(run, mode, names))
    return found


def sides(before: Measured) -> tuple[int, int]:
    """How many runs were compared, and how many of these end in an exception."""
    runs = before["bits"].values()
    return len(before["bits"]), sum("raised" in run["eager"] for run in runs)


def compiled_unlike_eager(measured: Measured) -> list[str]:
    """Runs where compiled code gives other bits than Python does, with or without a fix."""
    return [run for run, modes in sorted(measured["bits"].items()) if modes["eager"] != modes["compiled"]]


@dataclass(frozen=True)
class Fixed:
    """What `gbfix fix` says of itself. rules: of the fixes in the overlay, with how often. reasons: by line left."""

    rounds: int
    seconds: float
    ended: str
    rules: dict[str, int]
    reasons: dict[str, str]


def fixed_of(said: Measured, folder: str = "") -> Fixed:
    """What is kept of the document that `gbfix fix` prints. folder: where it ran, which no reason names."""
    rules = Counter(f"{entry['code']} {entry['name']}" for file in said["files"] for entry in file["applied"])
    reasons = {}
    for entry in said["remaining"]["breaks"]:
        remedy = entry["remedy"]
        place = f"{from_library(entry['place']['file'])}:{entry['place']['line']}"
        reasons[place] = without_machine("; ".join([remedy["text"], *remedy["details"][:1]]), folder)
    return Fixed(said["rounds"], said["seconds"], said["ended"], dict(sorted(rules.items())), reasons)


@dataclass(frozen=True)
class Compared:
    """A row, before and after. error: why there is no comparison."""

    row: Row
    before: dict[str, Counts] = field(default_factory=dict)
    after: dict[str, Counts] = field(default_factory=dict)
    runs: int = 0
    raising: int = 0
    differences: list[Difference] = field(default_factory=list)
    unlike_eager: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    fixed: Fixed | None = None
    times: dict[str, float] | None = None
    error: str = ""

    def breaks(self, side: Mapping[str, Counts]) -> int:
        """The breaks of the phases that the row is about."""
        return sum(side[phase].breaks for phase in self.row.phases if phase in side)

    def sites(self, side: Mapping[str, Counts]) -> int:
        """The places that break in the phases that the row is about."""
        return len({place for phase in self.row.phases if phase in side for place in side[phase].at})


def compared(row: Row, before: Measured, after: Measured, **more: Any) -> Compared:  # noqa: ANN401
    """A row from its two measurements."""
    runs, raising = sides(before)
    return Compared(
        row,
        before=_phases(before),
        after=_phases(after),
        runs=runs,
        raising=raising,
        differences=different(before, after),
        unlike_eager=compiled_unlike_eager(before),
        **more,
    )


def _phases(measured: Measured) -> dict[str, Counts]:
    return {name: counts_of(phase) for name, phase in measured["phases"].items()}


@dataclass(frozen=True)
class Removed:
    """Breaks of several rows, or places that break, before and after."""

    before: int
    after: int

    @property
    def share(self) -> float:
        """The part that was removed; nothing to remove counts as all of it."""
        return 1.0 - self.after / self.before if self.before else 1.0


def removed(rows: Sequence[Compared], count: Callable[[Compared, Mapping[str, Counts]], int]) -> Removed:
    """All that `count` finds in the rows that were compared: `Compared.breaks` or `Compared.sites`."""
    done = [row for row in rows if not row.error]
    return Removed(sum(count(row, row.before) for row in done), sum(count(row, row.after) for row in done))


def less_than_peer(rows: Sequence[Compared]) -> list[str]:
    """The rows where the peer leaves fewer breaks; where it leaves some, leaving as many, or all, counts as well."""
    worse = []
    for row in rows:
        peer = row.row.peer
        if peer is None or row.error:
            continue
        left = row.breaks(row.after)
        if left > peer.after or (peer.after and left >= min(peer.after, row.breaks(row.before))):
            worse.append(row.row.id)
    return worse


def ratios(before: Sequence[Measured], after: Sequence[Measured]) -> dict[str, float]:
    """Times after, over those before: of the first call, and the steady median, each the median of the pairs."""
    cold = [new["cold"] / old["cold"] for old, new in zip(before, after, strict=True)]
    steady = [
        statistics.median(new["steady"]) / statistics.median(old["steady"])
        for old, new in zip(before, after, strict=True)
    ]
    return {"cold": statistics.median(cold), "steady": statistics.median(steady)}
