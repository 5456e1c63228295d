"""One target, checked: search for a difference, reach both sides, count, time, and say what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from textwrap import shorten

import torch

from gbfix.equivalence.bench import bench
from gbfix.equivalence.comparing import Comparison, unsteady
from gbfix.equivalence.condition_numbers import numbers_of, sizes_among, words_of
from gbfix.equivalence.conditions import not_reached, reached_in_words
from gbfix.equivalence.example import Example
from gbfix.equivalence.learning import learned
from gbfix.equivalence.loading import load_object, text_of
from gbfix.equivalence.model import (
    CheckError,
    Condition,
    CountedCall,
    Counterexample,
    Difference,
    Exercised,
    Job,
    Mode,
    Parameter,
    Setup,
    Status,
    Verdict,
)
from gbfix.equivalence.named_numbers import around_numbers
from gbfix.equivalence.recipes import arguments_source, call_text
from gbfix.equivalence.reproduce import program
from gbfix.equivalence.search import EXAMPLES_FOR_STEERING, Reached, Search
from gbfix.equivalence.strategies import Inputs, given_inputs, inputs_for
from gbfix.equivalence.versions import Versions

Progress = Callable[[str, int, int], None]
"""Told the phase, how much of it is done, and how much there is."""

_SHARE_OF_SEARCH = 0.7
"""Of the time limit; the rest is for counting and timing."""
_LONGEST_ERROR = 100


def check(job: Job, progress: Progress = lambda _phase, _done, _all: None) -> Verdict:
    """Compare the two versions of a target. What keeps it from being compared is a verdict, too.

    Runs the user's code in processes of its own and must be called where no CUDA device was used so far, since these
    are forked. A strategy of the user's own (`job.inputs`) is called in this process.
    """
    started = time.monotonic()
    run = _Check(job, progress, started)
    try:
        verdict = run.verdict()
    except CheckError as error:
        verdict = Verdict(job.target.name, Status.NOT_TESTED, " ".join(str(error).split()))
    finally:
        run.close()
    return replace(
        verdict,
        fixes=job.fixes,
        backend=job.settings.backend,
        device=job.settings.device,
        torch=str(torch.__version__),
        seconds=round(time.monotonic() - started, 2),
    )


class _Check:
    """The steps of one check."""

    def __init__(self, job: Job, progress: Progress, started: float) -> None:
        self._job = job
        self._settings = job.settings
        self._progress = progress
        self._until = started + job.settings.seconds * _SHARE_OF_SEARCH
        self._eager = Versions(job, Mode.EAGER)
        self._compiled = Versions(job, Mode.COMPILED)
        self._parameters: tuple[Parameter, ...] = ()
        self._conditions: tuple[Condition, ...] = ()

    def close(self) -> None:
        """End all processes."""
        self._eager.close()
        self._compiled.close()

    def verdict(self) -> Verdict:
        """Search, count and time. Raises CheckError when there is nothing to compare."""
        self._progress("loading", 0, 1)
        setup, _ = self._eager.setup()
        self._parameters, self._conditions = setup.parameters, setup.branches
        inputs = self._inputs(setup)
        comparison = Comparison(self._eager, self._compiled, self._settings, Reached(setup.branches))
        search = Search(comparison.differences, self._until, lambda: self._tell(comparison))
        inputs = self._search(search, comparison, inputs)
        if search.example is None:
            verdict = self._without_difference(search, comparison)
        else:
            verdict = self._different(search.example, search.differences, comparison)
        verdict = replace(
            verdict,
            branches=comparison.reached.branches,
            exercised=comparison.tally.exercised(),
            baseline=comparison.baseline,
            inputs=inputs.origin,
        )
        return self._with_figures(verdict, inputs)

    def _inputs(self, setup: Setup) -> Inputs:
        job = self._job
        if not job.inputs:
            texts = [text for version in self._texts for text in version.values()]
            return inputs_for(setup, job.seen, job.settings, words=words_of(texts))
        return given_inputs(load_object(job.inputs, job.target.search), job.settings, module=setup.module)

    def _search(self, search: Search, comparison: Comparison, inputs: Inputs) -> Inputs:
        """Fixed examples, drawn ones, and more drawn ones where a side was not reached; gives the inputs learned."""
        inputs = learned(search, comparison, inputs, self._settings.examples)
        conditions = [branch.condition for branch in comparison.reached.branches]
        numbers = numbers_of(conditions, *self._texts)
        named = [
            *around_numbers(inputs.first(), inputs.fullest(), numbers),
            *inputs.of_sizes(sizes_among(numbers, conditions)),
        ]
        fixed = [*named, *inputs.corners()][: self._settings.examples // 2]
        search.try_each(fixed)
        drawn = max(self._settings.examples - len(fixed), 1)
        search.draw(inputs.strategy(), self._job, drawn, comparison.reached.steer)
        returned = comparison.tally.exercised().returned
        if search.example is None and returned and not comparison.reached.everywhere:
            search.draw(inputs.strategy(), self._job, EXAMPLES_FOR_STEERING, comparison.reached.steer)
        return inputs

    @cached_property
    def _texts(self) -> tuple[dict[str, str], dict[str, str]]:
        """Of the files that differ, original and rewritten."""
        job = self._job
        paths = sorted({*job.original, *job.rewritten})
        original, rewritten = (
            {path: text_of(path, texts) for path in paths} for texts in (job.original, job.rewritten)
        )
        return original, rewritten

    def _tell(self, comparison: Comparison) -> None:
        wanted = self._settings.examples
        self._progress("examples", min(comparison.tally.examples, wanted), wanted)

    # -- verdicts --------------------------------------------------------------------------------

    def _without_difference(self, search: Search, comparison: Comparison) -> Verdict:
        name, exercised = self._job.target.name, comparison.tally.exercised()
        if not exercised.returned:
            reason = f"the original raised for every example ({comparison.first_exception}); describe its inputs"
            return Verdict(name, Status.NOT_TESTED, f"{reason} with --inputs, or record calls with `gbfix trace`")
        if missing := not_reached(comparison.reached.branches):
            return Verdict(name, Status.NOT_TESTED, missing + _failing(comparison.reached))
        ran = f"{exercised.examples} examples, {exercised.compiled} of them compiled"
        both = f", {reached_in_words(comparison.reached.branches)}" if comparison.reached.branches else ""
        but = _but(exercised, stopped=search.stopped)
        if not comparison.within:
            return Verdict(name, Status.EQUAL, f"{ran}{both}{but}")
        largest = max((d.ulp for d in comparison.within if d.ulp is not None), default=None)
        error = "" if largest is None else f", largest error {largest} ULP"
        return Verdict(name, Status.CLOSE, f"{ran}{both}{error}{but}", largest_ulp=largest)

    def _different(self, example: Example, known: tuple[Difference, ...], comparison: Comparison) -> Verdict:
        """Show the example once more in fresh processes, and write the program that shows it without gbfix."""
        mode = known[0].mode
        depends = False
        if known[0].aspect != "ended":
            comparison.restart()
            fresh = comparison.differences(example, compiled=mode is Mode.COMPILED)
            depends = not any(difference.mode == mode for difference in fresh)
            known = known if depends else fresh
            by_itself = {(each.aspect, each.where): each for each in unsteady(self._job, example, mode)}
            steady = tuple(each for each in known if (each.aspect, each.where) not in by_itself)
            if not steady:
                one = by_itself[known[0].aspect, known[0].where]
                shown = f"{one.subject}: {one.original}, then {one.rewritten}"
                reason = f"the original differs from itself when it is run twice ({shown})"
                return Verdict(self._job.target.name, Status.NOT_TESTED, reason)
            known = steady
        first = known[0]
        counterexample = Counterexample(
            call_text(example), program(self._job, example, first, self._parameters), known, depends
        )
        where = "" if mode is Mode.EAGER else " when compiled"
        reason = f"{first.subject} differs{where}: {first.original} -> {first.rewritten}"
        return Verdict(self._job.target.name, Status.DIFFERENT, reason, counterexample)

    def _with_figures(self, verdict: Verdict, inputs: Inputs) -> Verdict:
        if not self._settings.counts and not self._settings.bench:
            return verdict
        self._progress("counts", 0, 1)
        sequence = self._in_telling_mode(inputs.sequence())
        if self._settings.counts:
            original, rewritten = self._compiled.counts(sequence)
            counted = tuple(self._counted(example) for example in sequence)
            verdict = replace(verdict, original=original, rewritten=rewritten, counted=counted)
        if not self._settings.bench or verdict.status in (Status.DIFFERENT, Status.NOT_TESTED):
            return verdict
        self._progress("bench", 0, 1)
        try:
            return replace(verdict, bench=bench(*self._compiled.pair(), sequence[0]))
        except CheckError as error:
            return replace(verdict, reason=f"{verdict.reason}; not timed: {' '.join(str(error).split())}")

    def _in_telling_mode(self, sequence: Sequence[Example]) -> tuple[Example, ...]:
        """The calls all in training or all in evaluation mode, whichever comes to more of what the rewrite touches."""
        first = sequence[0]
        if first.training is None:
            return tuple(sequence)

        def touched(mode: bool) -> int:
            original, _ = self._eager.observe(replace(first, training=mode))
            needs = {taken: self._conditions[taken.index].needs for taken in original.branches}
            return len({taken.index for taken, need in needs.items() if need in ("both", str(taken.outcome).lower())})

        training = max((first.training, not first.training), key=touched)
        return tuple(replace(example, training=training) for example in sequence)

    def _counted(self, example: Example) -> CountedCall:
        statements, arguments = arguments_source(example, self._parameters, self._settings.device)
        return CountedCall(statements, arguments, example.training)


def _failing(reached: Reached) -> str:
    """Why examples that took a side that is missing did not count."""
    for index, branch in enumerate(reached.branches):
        for outcome in branch.missing:
            if (index, outcome) in reached.failed:
                where = f"after line {branch.condition.line} was {str(outcome).lower()}"
                text = shorten(reached.failed[index, outcome], _LONGEST_ERROR, placeholder=" ...")
                return f"; {where} an operation failed ({text}): describe the inputs with --inputs"
    return ""


def _but(exercised: Exercised, *, stopped: bool) -> str:
    """What makes the examples tell less than their number: errors alone were compared, or the time was up."""
    returned, most = exercised.returned, exercised.examples
    text = ""
    if returned * 3 < most:
        text = f"; only {returned} of the examples returned, the others raised: describe the inputs with --inputs"
    elif returned * 10 < most * 9:
        text = f"; {most - returned} of the examples raised"
    return f"{text}; stopped by the time limit" if stopped else text
