"""What the verdict of a check says about a single fix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten

from gbfix.cli.check_run import counterexample_file, is_equal
from gbfix.cli.names import display_name
from gbfix.engine.checked import CheckFacts, ConditionFacts, conditions_of
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Finding
from gbfix.equivalence.model import Status, Verdict

SAME = "the program stays the same"
"""The claim that a difference violates."""

PASSED = "a check finds the program the same"
"""The claim that a fix violates which no check passed."""

_LONGEST_CALL = 100


@dataclass(frozen=True)
class Refusal:
    """Why a fix is not made: the claim that is violated, the reason, and what the user can do."""

    claim: str
    reason: str
    advice: str = ""


def facts_of(verdict: Verdict, name: str, *, as_recorded: bool = False) -> CheckFacts:
    """What the examples of a check showed of the fixes in a file, named as the user sees it.

    as_recorded: they kept to what a run showed (see `Settings`).
    """
    exercised = verdict.exercised
    conditions = tuple(
        ConditionFacts(
            branch.condition.line,
            not branch.missing,
            branch.with_gradients,
            branch.condition.end_line,
            is_statement=branch.condition.needs == "run",
            controls_to=branch.condition.controls_to,
        )
        for branch in verdict.branches
        if os.path.realpath(name) == os.path.realpath(branch.condition.file)
    )
    return CheckFacts(
        verdict.target,
        exercised.examples,
        conditions,
        half=exercised.half,
        integers=exercised.integers,
        non_contiguous=exercised.non_contiguous,
        special=exercised.special,
        no_floats=exercised.no_floats,
        empty=exercised.empty,
        compiled=exercised.compiled,
        raised=exercised.raised,
        device=verdict.device,
        as_recorded=as_recorded,
    )


def passes(verdict: Verdict, facts: CheckFacts, finding: Finding) -> bool:
    """True when the versions were the same for examples that reached all that a fix touches.

    The verdict itself may be "not tested" for a side that has to do with another fix.
    """
    if verdict.status is Status.DIFFERENT or not verdict.exercised.returned:
        return False
    own = conditions_of(finding, facts)
    return all(one.reached for one in own) if own else is_equal(verdict)


def in_words(passed: Sequence[CheckFacts]) -> str:
    """The checks that a fix passed: "100 examples of model:step"."""
    return ", ".join(f"{facts.examples} examples of {facts.target}" for facts in passed)


def difference(verdict: Verdict, root: Path) -> Refusal:
    """Of a fix that makes a difference. root: of the project, where the program that shows it lies."""
    found = verdict.counterexample
    if found is None:
        return Refusal(SAME, verdict.reason)
    call = shorten(found.call, _LONGEST_CALL, placeholder=" ...")
    program = display_name(counterexample_file(root, verdict))
    return Refusal(SAME, f"{verdict.reason} for {call}", f"`python {program}` shows the difference")


def not_passed(verdict: Verdict, facts: CheckFacts, finding: Finding) -> Refusal:
    """Of a fix that a check ran and did not pass."""
    advice = f"`gbfix check {verdict.target}` tells more, and takes --inputs and --factory"
    missed = [one for one in conditions_of(finding, facts) if not one.reached]
    if missed and verdict.exercised.returned:
        what = "line" if all(one.is_statement for one in missed) else "both sides of line"
        lines = " and ".join(str(one.line) for one in missed)
        reason = f"not tested: {facts.examples} examples of {verdict.target} did not reach {what} {lines}"
        return Refusal(PASSED, reason, advice)
    return Refusal(PASSED, f"{verdict.status.value}: {verdict.reason.partition('; ')[0]}", advice)
