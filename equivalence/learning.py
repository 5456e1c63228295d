"""Turning inputs to what the original takes, by calling it."""

from __future__ import annotations

import re
from collections import deque

from gbfix.equivalence.comparing import Comparison
from gbfix.equivalence.example import Example
from gbfix.equivalence.exercised import Tally
from gbfix.equivalence.inputs import Inputs
from gbfix.equivalence.model import Raised
from gbfix.equivalence.search import Search

_STARTS = 3
"""Calls to start from, each a variation of the one before, until the original takes one."""
_CALLS_FOR_MENDING = 80


def learned(search: Search, comparison: Comparison, inputs: Inputs, most: int) -> Inputs:
    """The inputs, turned to what the original takes: by its most ordinary call, and by variations of that.

    most: variations to try of each call to start from. The search may end with a difference on the way.
    """
    taken: list[str] = []
    for _ in range(_STARTS):
        _try(search, comparison, inputs.first())
        if search.example is None and comparison.last.raised is not None:
            inputs = _mended(search, comparison, inputs)
        takes_first, taken = comparison.last.raised is None, []
        for name, example in inputs.variations()[:most]:
            if search.example is not None:
                break
            _try(search, comparison, example)
            if comparison.last.raised is None:
                taken.append(name)
        if takes_first or not taken:
            break
        inputs = inputs.starting_from(taken)
    return inputs.accepting(taken)


def _mended(search: Search, comparison: Comparison, inputs: Inputs) -> Inputs:
    """Inputs whose first call the original takes, found by what it raised; the same inputs when none are found.

    Follows each new exception, since behind it there may be another one.
    """
    assert comparison.last.raised is not None
    waiting = deque([(inputs, comparison.last.raised)])
    known = {comparison.last.raised}
    left = _CALLS_FOR_MENDING
    while waiting:
        current, before = waiting.popleft()
        for candidate in current.mended(before):
            if not left or search.example is not None:
                return inputs
            left -= 1
            _try(search, comparison, candidate.first())
            now = comparison.last.raised
            if now is None:
                comparison.tally = Tally()  # what was tried on the way was no example of the program's use
                return candidate
            if now not in known:
                known.add(now)
                add = waiting.append if _without_numbers(now) == _without_numbers(before) else waiting.appendleft
                add((candidate, now))
    return inputs


def _try(search: Search, comparison: Comparison, example: Example) -> None:
    """One call. Operations that fail in both versions tell that it is not meant, not that the versions differ.

    For a wrong shape each fails at its first operation, which may be another one.
    """
    search.try_each([example])
    if search.example is not None and comparison.failed_in_both:
        search.forget()


def _without_numbers(raised: Raised) -> str:
    """What is the same of an exception for all sizes: another one comes from further on in the program."""
    return re.sub(r"\d+", "", f"{raised.type}: {raised.text}")
