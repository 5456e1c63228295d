"""Calling both versions with an example, eager and compiled, and keeping what the examples showed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from gbfix.equivalence.compare import compare, same_for_compiled
from gbfix.equivalence.example import Example
from gbfix.equivalence.exercised import Tally, kind_of
from gbfix.equivalence.model import Difference, Job, Mode, Observation, Settings
from gbfix.equivalence.search import Reached
from gbfix.equivalence.versions import ENDED, Versions, ended

_AT_ONCE = 2
"""Examples that are compiled as soon as they come; the later ones have more to tell than the first variations."""
_RUNS_OF_ORIGINAL = 3
_LONGEST_LOOP = 100
"""Conditions evaluated in a call that is compiled: a loop over them is unrolled, and would compile for minutes."""
_PART_THAT_RAISES = 4
"""One in so many of the compiled examples may be one that raises."""


class Comparison:
    """Both versions under one set of settings.

    An example of a new kind is run compiled as well, up to the number that the settings give, spread over the search;
    each side of a condition is, up to twice that number. Once a difference was found only in compiled mode, every later
    example is compiled, so that it can be shrunk.
    """

    def __init__(self, eager: Versions, compiled: Versions, settings: Settings, reached: Reached) -> None:
        self.reached = reached
        self.tally = Tally()
        self.within: list[Difference] = []
        """Differences that the tolerance allowed."""
        self.baseline = ""
        """How the original compiled differs from the original eager."""
        self.first_exception = ""
        """Of the original, the first in all examples."""
        self.last: Observation = Observation()
        """What the original did eagerly with the last example."""
        self.failed_in_both = False
        """An operation failed in both versions for the last example."""
        self._eager = eager
        self._compiled = compiled
        self._settings = settings
        self._kinds: set[Hashable] = set()
        self._sides: set[tuple[int, bool]] = set()
        self._raising = 0
        self._compile_all = False

    def differences(self, example: Example, *, compiled: bool | None = None) -> tuple[Difference, ...]:
        """What differs beyond the tolerance. compiled: also in compiled mode; None decides by the kind of example."""
        original, rewritten = self._eager.observe(example)
        self._note(example, original)
        both = original.raised, rewritten.raised
        self.failed_in_both = all(raised is not None and raised.from_torch for raised in both)
        found = self._beyond_tolerance(_of_both_calls(_compare_eager(self._settings), original, rewritten))
        if found or ended(original) or not (self._wants_compiled(example) if compiled is None else compiled):
            return found
        return self._compiled_differences(example, original, rewritten)

    def restart(self) -> None:
        """Load the versions anew before the next example."""
        self._eager.close()
        self._compiled.close()

    def _note(self, example: Example, original: Observation) -> None:
        self.last = original
        self.reached.add(original)
        self.tally.add(example, original)
        if original.raised is not None and not self.first_exception:
            self.first_exception = f"{original.raised.type}: {original.raised.text}".split("\n")[0]

    def _wants_compiled(self, example: Example) -> bool:
        if self._compile_all:
            return True
        kind, raises = kind_of(example, self.last), self.last.raised is not None
        sides = {(taken.index, taken.outcome) for taken in self.last.branches}
        most, run = self._settings.compiled_examples, len(self._kinds)
        if len(self.last.branches) > _LONGEST_LOOP:
            return False
        if kind in self._kinds or run >= 2 * most or (raises and self._raising >= most // _PART_THAT_RAISES):
            return False
        due = max(most * self.tally.examples // max(self._settings.examples, 1), _AT_ONCE)
        if run >= min(most, due) and (raises or sides <= self._sides):
            return False
        self._kinds.add(kind)
        self._sides |= sides
        self._raising += raises
        return True

    def _compiled_differences(
        self, example: Example, original: Observation, rewritten: Observation
    ) -> tuple[Difference, ...]:
        self.tally.add_compiled()
        compiled_original, compiled_rewritten = self._compiled.observe(example)

        def compare_compiled(one: Observation, other: Observation) -> tuple[Difference, ...]:
            # The eager call that belongs to a compiled one: the first to the first, the second to the second.
            eager = (original, rewritten) if one is compiled_original else (original.again, rewritten.again)
            if eager[0] is None or eager[1] is None:
                return compare(one, other, Mode.COMPILED, self._settings.tolerance)
            differences, baseline = same_for_compiled(
                eager[0], one, eager[1], other, self._settings.tolerance, backend=self._settings.backend
            )
            self.baseline = self.baseline or baseline
            return differences

        found = self._beyond_tolerance(_of_both_calls(compare_compiled, compiled_original, compiled_rewritten))
        self._compile_all = self._compile_all or bool(found)
        return found

    def _beyond_tolerance(self, differences: tuple[Difference, ...]) -> tuple[Difference, ...]:
        self.within += [difference for difference in differences if difference.within]
        apart = frozenset(self._settings.apart)
        return tuple(one for one in differences if not (one.within or is_apart(one, apart)))


def is_apart(difference: Difference, names: frozenset[str]) -> bool:
    """True for a difference that a fix has announced: an attribute is there earlier, or an object of its own."""
    if difference.aspect in ("identity", "memory"):
        return difference.where.rpartition(".")[2] in names
    rewritten = difference.rewritten.removeprefix("with ")
    earlier = difference.aspect == "keys" and difference.rewritten.startswith("with ")
    return earlier and difference.original == f"without {rewritten}" and names.issuperset(rewritten.split(", "))


def unsteady(job: Job, example: Example, mode: Mode) -> tuple[Difference, ...]:
    """How the original differs from itself, run several times in two processes: by the time of day, say."""
    itself = Versions(replace(job, rewritten=job.original), mode)
    found: list[Difference] = []
    try:
        for _ in range(_RUNS_OF_ORIGINAL):
            one, other = itself.observe(example)
            found += _of_both_calls(lambda a, b: compare(a, b, mode, job.settings.tolerance), one, other)
    finally:
        itself.close()
    return tuple(difference for difference in found if not difference.within)


def _compare_eager(settings: Settings) -> Callable[[Observation, Observation], tuple[Difference, ...]]:
    return lambda one, other: compare(one, other, Mode.EAGER, settings.tolerance)


def _of_both_calls(
    compare_call: Callable[[Observation, Observation], tuple[Difference, ...]],
    original: Observation,
    rewritten: Observation,
) -> tuple[Difference, ...]:
    """What differs in the first call, or else in the second one."""
    found = _with_ends(compare_call(original, rewritten), original, rewritten)
    if found or original.again is None or rewritten.again is None:
        return found
    later = compare_call(original.again, rewritten.again)
    return tuple(replace(difference, where=f"{difference.where} (second call)") for difference in later)


def _with_ends(
    differences: tuple[Difference, ...], original: Observation, rewritten: Observation
) -> tuple[Difference, ...]:
    """The end of a process is no exception, and there is nothing else to compare then."""
    if not (ended(original) or ended(rewritten)):
        return differences
    if ended(original) and ended(rewritten):
        return ()
    mode = differences[0].mode if differences else Mode.EAGER
    return (Difference("ended", "the process", _end(original), _end(rewritten), mode),)


def _end(observation: Observation) -> str:
    if observation.raised is None:
        return "returned"
    return observation.raised.text if observation.raised.type == ENDED else f"raised {observation.raised.type}"
