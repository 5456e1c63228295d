"""A named change to a call, and the groups of such changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gbfix.equivalence.forms import CallForm

MOST_TENSORS = 4
"""Of calls with more tensors, only the first get changes of their own."""

GROUPS = (
    "form",
    "rank",
    "rank of one",
    "dtype",
    "dtype of one",
    "range",
    "size",
    "size of one",
    "layout",
    "grad",
    "alias",
    "left out",
)
"""In the order in which changes are made: an alias needs equal shapes and dtypes. "of one": of one tensor only."""


@dataclass(frozen=True)
class Feature:
    """A change. group: one of `GROUPS`.

    symbol: the one that a change to any other size concerns.
    """

    name: str
    group: str
    change: Callable[[CallForm], CallForm]
    symbol: str = ""
