"""Symbolic terms: names for facts that are not known, so that equal facts can be recognised."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

Term = Hashable
"""A symbolic shape, dtype or layout. Equal terms mean equal facts at run time."""


class _Compound:
    """A term made of others; compared by identity, since `term` makes each one once."""

    def __init__(self, parts: tuple[Hashable, ...]) -> None:
        self.parts = parts


@lru_cache(maxsize=200_000)
def term(*parts: Hashable) -> Term:
    """The one term for these parts.

    Terms share their parts, so hashing them as plain tuples would take time exponential in the
    length of a function. A term that fell out of the cache is only ever found unequal, never wrongly equal.
    """
    return _Compound(parts)


def term_parts(term: Term) -> tuple[Hashable, ...]:
    """The parts of a compound term, empty for a plain one."""
    return term.parts if isinstance(term, _Compound) else ()
