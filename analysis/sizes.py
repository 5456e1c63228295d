"""Shapes and strides that a run showed, as terms that can be computed with.

A term holds one entry for each observation at a line, so that two names seen at the same line are compared run by
run. Entries that are all the same number are worth the same at every line; others count at their own line only.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

from gbfix.analysis.terms import Term, term, term_parts

Sizes = tuple[int, ...]


def observed(place: Hashable, entries: Sequence[Sizes]) -> Term:
    """The term for what one name had in each observation at `place`."""
    return term("observed", None, (entries[0],)) if len(set(entries)) == 1 else term("observed", place, tuple(entries))


def entries(known: Term) -> tuple[Hashable, tuple[Sizes, ...]] | None:
    """The place (None: any) and the entries of a term made by `observed`, None for another term."""
    parts = term_parts(known)
    if parts[:1] != ("observed",):
        return None
    place, found = parts[1:]
    assert isinstance(found, tuple)
    return place, found


def broadcast(shapes: Iterable[Term]) -> frozenset[Term] | None:
    """The one shape that observed shapes broadcast to; None where one is not observed, or they do not in every run."""
    together = _run_by_run([entries(shape) for shape in shapes])
    if together is None:
        return None
    place, rows = together
    results = [result for row in rows if (result := _broadcast_one(row)) is not None]
    return frozenset({observed(place, results)}) if len(results) == len(rows) else None


def _run_by_run(
    found: Sequence[tuple[Hashable, tuple[Sizes, ...]] | None],
) -> tuple[Hashable, list[tuple[Sizes, ...]]] | None:
    """The place (None: any) and what several shapes were in each run; None where one is not observed, or elsewhere."""
    known = [pair for pair in found if pair is not None]
    places = {place for place, _ in known if place is not None}
    if not known or len(known) < len(found) or len(places) > 1:
        return None
    runs = range(max(len(series) for _, series in known))
    rows = [tuple(series[run if place is not None else 0] for place, series in known) for run in runs]
    return next(iter(places), None), rows


def _broadcast_one(shapes: Sequence[Sizes]) -> Sizes | None:
    """The rule of PyTorch: aligned at the end, equal or 1."""
    rank = max(len(shape) for shape in shapes)
    result: list[int] = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(sizes) > 1:
            return None
        result.append(next(iter(sizes), 1))
    return tuple(result)


def ranks(shape: Iterable[Term]) -> set[int]:
    """The numbers of dimensions that an observed shape had; empty for a shape that was not observed."""
    return {len(sizes) for sizes in _series(shape)}


def pairs(first: Iterable[Term], second: Iterable[Term]) -> list[tuple[Sizes, Sizes]]:
    """Two shapes as they were together in each run; empty where one was not observed, or not at the same line."""
    shapes = [list(first), list(second)]
    found = [entries(shape[0]) if len(shape) == 1 else (None, ((),)) if not shape else None for shape in shapes]
    together = _run_by_run(found)
    return [] if together is None else [(one, other) for one, other in together[1]]


def is_one_shape(shape: Iterable[Term]) -> bool:
    """True for an observed shape that was the same in every run, and for that of a tensor without dimensions."""
    parts = list(shape)
    found = [entries(part) for part in parts]
    return not parts or (len(found) == 1 and found[0] is not None and len(set(found[0][1])) == 1)


def sample(shape: Iterable[Term]) -> Sizes | None:
    """An observed shape as it was in the first run; None for one that was not observed."""
    return next(iter(_series(shape)), None)


def _series(shape: Iterable[Term]) -> Sequence[Sizes]:
    """An observed shape in each run, nothing for one that was not observed."""
    found = [entries(part) for part in shape]
    return found[0][1] if len(found) == 1 and found[0] is not None else ()


def element_counts(known: Term) -> set[int] | None:
    """How many elements a tensor of an observed shape had in the runs; None for a shape that was not observed."""
    found = entries(known)
    return None if found is None else {math.prod(shape) for shape in found[1]}


def contiguous_strides(shape: Sizes) -> Sizes:
    """The strides of a contiguous tensor."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
