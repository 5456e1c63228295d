"""Which breaks and recompiles cost most: the order of the report."""

from __future__ import annotations

from gbfix.evidence.model import Break, Cost, Evidence, Place, Recompile


def ranked_breaks(evidence: Evidence) -> tuple[Break, ...]:
    """The breaks, the dearest first.

    What counts is how often the program runs into the site once it is warm, over the whole run, times the fragments
    that start there. A site without calls after warm-up comes next, since nothing is known of it, and one that was
    never hit after warm-up last: a break in each of 400 steps stands above ten that ran once at the start. Among
    equals a frame that runs in Python as a whole stands above a cut graph, then the number of events decides.
    """
    return tuple(sorted(evidence.breaks, key=_break_order))


def ranked_recompiles(evidence: Evidence) -> tuple[Recompile, ...]:
    """The recompiles, the dearest first.

    A code object that reached the recompile limit runs in Python from then on, so it stands above all others. Then
    the number of compilations decides, since each takes seconds where a call takes milliseconds, then the hits in
    steady state.
    """
    return tuple(sorted(evidence.recompiles, key=_recompile_order))


def break_cost(site: Break) -> float:
    """Hits over the whole run times fragments; 0 when nothing is known, and for a site that a warm program misses."""
    return site.cost.hits * max(site.fragments, 1)


def _break_order(site: Break) -> tuple[object, ...]:
    return (
        _warmth(site.cost),
        -break_cost(site),
        not site.skipped_frame,
        -site.events,
        -site.calls,
        _position(site.place),
        site.gb,
        site.kind,
    )


def _recompile_order(row: Recompile) -> tuple[object, ...]:
    return (
        not row.limit_hit,
        -row.count,
        _warmth(row.cost),
        -row.cost.hits,
        _position(row.place),
        row.kind,
        row.source_name,
        row.guard,
    )


def _warmth(cost: Cost) -> int:
    if not cost.steady:
        return 1
    return 0 if cost.hits_per_call else 2


def _position(place: Place) -> tuple[str, int, int]:
    return (place.file, place.line, -1 if place.column is None else place.column)
