"""Looking for an example for which the versions differ: corners first, then Hypothesis, steered to both sides."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, given, seed
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from gbfix.equivalence.example import Example
from gbfix.equivalence.model import BranchReached, CheckError, Condition, Difference, Job, Observation

SECONDS_FOR_SHRINKING = 20.0
EXAMPLES_FOR_STEERING = 300

Compare = Callable[[Example], tuple[Difference, ...]]


class FoundDifferenceError(Exception):
    """An example for which the versions differ; Hypothesis shrinks what raises it."""


class Search:
    """One search. `compare` calls both versions and gives what differs beyond the tolerance."""

    def __init__(self, compare: Compare, until: float, progress: Callable[[], None]) -> None:
        self.example: Example | None = None
        """The simplest example that differs, once one is found."""
        self.differences: tuple[Difference, ...] = ()
        self.ran = 0
        self.stopped = False
        """The time was up before all examples had been tried."""
        self._compare = compare
        self._until = until
        self._progress = progress

    def try_each(self, examples: Iterable[Example]) -> None:
        """Try fixed examples in order, up to the first that differs."""
        for example in examples:
            if self.example is not None or self._is_late(self._until):
                return
            if self._differs(example):
                self.example = example

    def forget(self) -> None:
        """Go on as if the last example had not differed."""
        self.example, self.differences = None, ()

    def draw(self, strategy: SearchStrategy[Example], job: Job, examples: int, steer: Callable[[], None]) -> None:
        """Try drawn examples; `steer` is called after each that does not differ, to tell Hypothesis where to look.

        An example that differs is shrunk, and takes the place of one that was known before.
        """
        found: list[Example] = []
        until = self._until

        @seed(job.settings.seed)
        @hypothesis.settings(
            max_examples=max(examples, 1),
            database=_database(job),
            deadline=None,
            phases=[Phase.reuse, Phase.generate, Phase.target, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
            print_blob=False,
        )
        @given(strategy)
        def one(example: Example) -> None:
            nonlocal until
            if self._is_late(until):  # nothing is left for Hypothesis to do but to show the last one once more
                if found and example == found[-1]:
                    raise FoundDifferenceError
                return
            if not self._differs(example):
                steer()
                return
            if not found:
                until = min(self._until, time.monotonic() + SECONDS_FOR_SHRINKING)
            found.append(example)
            raise FoundDifferenceError

        try:
            one()
        except FoundDifferenceError:
            self.example = found[-1]
        except (Flaky, CheckError):
            # What differs depends on earlier calls, or a version cannot be loaded any more. Any example of it will do.
            if not found:
                raise
            self.example = min(found, key=lambda example: len(repr(example)))

    def _is_late(self, until: float) -> bool:
        late = time.monotonic() > until
        self.stopped = self.stopped or late
        return late

    def _differs(self, example: Example) -> bool:
        """Compare; once something differs, only an example that differs in the same aspect counts as one that does."""
        differences = self._compare(example)
        self.ran += 1
        self._progress()
        if self.differences:
            first = self.differences[0]
            differences = tuple(d for d in differences if (d.aspect, d.mode) == (first.aspect, first.mode))
        if not differences:
            return False
        self.differences = self.differences or differences
        return True


class Reached:
    """How many examples had each outcome of each condition, and how near others came."""

    def __init__(self, conditions: tuple[Condition, ...]) -> None:
        self._conditions = conditions
        self._counts = [[0, 0] for _ in conditions]
        self._with_gradients = [[0, 0] for _ in conditions]
        self._distances: dict[tuple[int, bool], float] = {}
        self.failed: dict[tuple[int, bool], str] = {}
        """What operations raised first after each outcome; such examples do not count."""

    def add(self, observation: Observation) -> None:
        """Count what one example showed, and remember its distances to what it did not.

        An operation that fails afterwards, such as for a wrong shape, leaves nothing of a side to compare; a `raise`
        of the program's own is what the side does.
        """
        self._distances = {}
        for index, outcome in {(taken.index, taken.outcome) for taken in observation.branches}:
            if observation.raised is not None and observation.raised.from_torch:
                self.failed.setdefault((index, outcome), observation.raised.text)
                continue
            self._counts[index][outcome] += 1
            self._with_gradients[index][outcome] += bool(observation.gradients)
        for taken in observation.branches:
            if taken.distance is not None:
                missing = (taken.index, not taken.outcome)
                self._distances[missing] = min(taken.distance, self._distances.get(missing, taken.distance))

    @property
    def branches(self) -> tuple[BranchReached, ...]:
        """Each condition with its counts."""
        return tuple(self._branch(index) for index in range(len(self._conditions)))

    @property
    def everywhere(self) -> bool:
        """No outcome that is needed is missing."""
        return not any(branch.missing for branch in self.branches)

    def _branch(self, index: int) -> BranchReached:
        (false, true), (false_with, true_with) = self._counts[index], self._with_gradients[index]
        return BranchReached(self._conditions[index], true, false, true_with, false_with)

    def steer(self) -> None:
        """Tell Hypothesis how near the last example came to each side that was not reached yet."""
        for (index, outcome), distance in self._distances.items():
            if outcome in self._branch(index).missing and distance < float("inf"):
                hypothesis.target(-distance, label=f"condition {index} {outcome}")


def _database(job: Job) -> DirectoryBasedExampleDatabase | None:
    """A folder for each target, since Hypothesis' own keys tell test functions apart, and here is one for all."""
    if not job.settings.database:
        return None
    name = hashlib.sha256(f"{job.target.file}:{job.target.attribute}".encode()).hexdigest()[:16]
    return DirectoryBasedExampleDatabase(Path(job.settings.database) / name)
