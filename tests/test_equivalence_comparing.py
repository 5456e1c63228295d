"""Which examples are compiled as well, with versions that answer what a test says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from gbfix.equivalence.comparing import Comparison, is_apart
from gbfix.equivalence.example import Constant, Example
from gbfix.equivalence.model import BranchTaken, Condition, Described, Difference, Observation, Raised, Settings
from gbfix.equivalence.search import Reached

CONDITION = Condition("f.py", 1, 0, "x.sum() > 0")


class Answers:
    """Versions that answer alike, in place of processes."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self._observations = list(observations)
        self.asked = 0

    def observe(self, example: Example) -> tuple[Observation, Observation]:
        found = self._observations[cast("Any", example.arguments[0][1]).value]
        self.asked += 1
        return found, found


def compiled(observations: Sequence[Observation], settings: Settings) -> list[int]:
    """The numbers of the observations that were compiled, too."""
    eager, compiler = Answers(observations), Answers(observations)
    comparison = Comparison(cast("Any", eager), cast("Any", compiler), settings, Reached((CONDITION,)))
    found = []
    for number in range(len(observations)):
        before = compiler.asked
        assert not comparison.differences(Example((("n", Constant(number)),), training=bool(number % 2)))
        found += [number] * (compiler.asked - before)
    return found


def took(*outcomes: bool, raised: str = "") -> Observation:
    error = Raised(raised, "no", from_torch=True) if raised else None
    branches = tuple(BranchTaken(0, outcome) for outcome in outcomes)
    return Observation(Described("scalar", "int", text="1"), error, branches=branches)


def test_examples_of_a_kind_are_compiled_once() -> None:
    assert compiled([took(True)] * 6, Settings(examples=4, compiled_examples=4)) == [0, 1]


def test_a_side_that_is_reached_late_is_compiled_too() -> None:
    assert compiled([took(True)] * 9 + [took(False)], Settings(examples=10, compiled_examples=2)) == [0, 1, 9]


def test_calls_with_many_conditions_are_not() -> None:
    assert compiled([took(*[True] * 101), took(True)], Settings()) == [1]


def test_few_of_those_that_raise_are() -> None:
    raising = [took(True, raised=f"Error{number}") for number in range(10)]
    assert compiled([*raising, took(True)], Settings(examples=10, compiled_examples=8)) == [0, 1, 10]


def test_none_are_where_none_were_asked_for() -> None:
    assert not compiled([took(True), took(False)], Settings(compiled_examples=0))


def test_a_side_counts_only_where_no_operation_failed_after_it() -> None:
    reached = Reached((CONDITION,))
    reached.add(took(True, raised="RuntimeError"))
    reached.add(took(False))
    (branch,) = reached.branches
    assert (branch.true, branch.false) == (0, 1)
    assert reached.failed == {(0, True): "no"}


def test_what_a_fix_announced_is_not_compared() -> None:
    names = frozenset({"long", "chosen"})
    keys = Difference("keys", "state self", "without long", "with long")
    assert is_apart(keys, names)
    assert not is_apart(keys, frozenset({"chosen"}))
    assert not is_apart(replace(keys, original="with long", rewritten="without long"), names)
    assert not is_apart(replace(keys, original="without long, other", rewritten="with long, other"), names)
    assert is_apart(Difference("identity", "state self.rope.chosen", "state self.rope.long itself", "another"), names)
    assert not is_apart(Difference("identity", "state self.rope", "x", "another"), names)
    assert not is_apart(Difference("value", "state self.rope.chosen", "1", "2"), names)
