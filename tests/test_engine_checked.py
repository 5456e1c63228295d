"""Assumptions that a check exercised are told from those that it could not, and a difference is a refusal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.checked import (
    CHECKED_BY,
    STAYS_ASSUMED,
    CheckFacts,
    ConditionFacts,
    Need,
    needs_of,
    with_checked,
)
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Safety, Span

ROOT = Path(__file__).parent.parent
SPAN = Span(3, 0, 6, 0)
FIX = Fix("use torch.where", (Replacement(SPAN, "y = 1"),))
PROVED, ASSUMED, VIOLATED, OBSERVED = Discharge.PROVED, Discharge.ASSUMED, Discharge.VIOLATED, Discharge.OBSERVED
CHECKED = Discharge.CHECKED
EVERYTHING = CheckFacts(
    "model:step",
    examples=100,
    conditions=(ConditionFacts(3, reached=True, with_gradients=True),),
    half=9,
    integers=8,
    non_contiguous=7,
    special=6,
    empty=5,
    compiled=12,
    raised=1,
    device="cuda",
)
CLAIMS = [*CHECKED_BY, "flag is a Python value", "limit is a Python number"]


def finding(*claims: str, discharge: Discharge = ASSUMED, reason: str = "not known") -> Finding:
    made = tuple(Obligation(claim, discharge, reason, 4) for claim in claims)
    return Finding("GBF101", "a-rule", SPAN, "found", "f", "compiled", made, FIX)


def met(claim: str, facts: CheckFacts) -> Discharge:
    return with_checked(finding(claim), facts).obligations[0].discharge


@pytest.mark.parametrize("claim", CLAIMS)
def test_assumption_that_the_examples_exercised_is_checked(claim: str) -> None:
    found = with_checked(finding(claim), EVERYTHING)

    assert found.obligations[0].discharge is CHECKED
    assert found.obligations[0].reason.startswith("100 examples of model:step, both sides reached")
    assert found.safety is Safety.SAFE


@pytest.mark.parametrize("claim", STAYS_ASSUMED)
def test_assumption_that_no_check_shows_stays(claim: str) -> None:
    found = with_checked(finding(claim), EVERYTHING)

    assert found == finding(claim)
    assert found.safety is Safety.UNSAFE


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize(
    "conditions",
    [
        pytest.param((), id="none measured"),
        pytest.param((ConditionFacts(2, reached=True, with_gradients=True),), id="only another one"),
        pytest.param((ConditionFacts(3, reached=False, with_gradients=True),), id="one side"),
        pytest.param(
            (ConditionFacts(3, reached=True, with_gradients=True), ConditionFacts(6, reached=False)), id="one of two"
        ),
    ],
)
def test_nothing_is_checked_without_both_sides(claim: str, conditions: tuple[ConditionFacts, ...]) -> None:
    facts = replace(EVERYTHING, conditions=conditions)
    assert with_checked(finding(claim), facts) == finding(claim)


def test_both_sides_have_to_be_reached_with_gradients() -> None:
    without = replace(EVERYTHING, conditions=(ConditionFacts(3, reached=True),))
    assert met("gradients reach the same tensors", EVERYTHING) is CHECKED
    assert met("gradients reach the same tensors", without) is ASSUMED
    assert met("both sides have the same shape", without) is CHECKED


@pytest.mark.parametrize(
    ("claim", "lacking"),
    [
        ("both sides have the same dtype", {"half": 0}),
        ("both sides have the same dtype", {"integers": 0}),
        ("identity and strides do not matter", {"non_contiguous": 0}),
        ("both sides have the same strides", {"non_contiguous": 0}),
        ("the side not taken cannot fail or warn", {"special": 0}),
        ("the side not taken cannot fail or warn", {"empty": 0}),
        ("the other gradient stays zero", {"special": 0}),
        ("the sides use tensors and constants only", {"compiled": 1}),
        ("both sides are on the same device", {"device": "cpu"}),
        ("the condition is on their device", {"device": "cpu"}),
    ],
)
def test_examples_that_would_not_show_the_opposite_check_nothing(claim: str, lacking: dict[str, object]) -> None:
    assert met(claim, EVERYTHING) is CHECKED
    assert met(claim, replace(EVERYTHING, **lacking)) is ASSUMED  # type: ignore[arg-type]


def test_nan_is_asked_of_no_program_that_was_recorded_without_floats() -> None:
    claim = "the side not taken cannot fail or warn"
    integers = replace(EVERYTHING, special=0, as_recorded=True, no_floats=EVERYTHING.examples)
    assert met(claim, integers) is CHECKED
    assert met(claim, replace(integers, no_floats=EVERYTHING.examples - 1)) is ASSUMED
    assert met(claim, replace(integers, as_recorded=False)) is ASSUMED
    assert met(claim, replace(integers, empty=0)) is ASSUMED


def test_warning_that_is_not_compared_stays_assumed() -> None:
    claim = "the side not taken cannot fail or warn"
    warning = finding(claim, reason="x.mT neither raises nor warns (two dimensions)")
    assert with_checked(warning, EVERYTHING) == warning


def test_what_needs_no_check_is_left_alone() -> None:
    for discharge in (PROVED, OBSERVED, VIOLATED):
        before = finding("condition is a tensor", discharge=discharge)
        assert with_checked(before, EVERYTHING) == before


def test_one_assumption_left_keeps_the_fix_unsafe() -> None:
    found = with_checked(finding("condition is a tensor", "only first derivatives are taken"), EVERYTHING)
    assert [o.discharge for o in found.obligations] == [CHECKED, ASSUMED]
    assert found.safety is Safety.UNSAFE


def test_reason_says_what_was_exercised() -> None:
    found = with_checked(finding("the other gradient stays zero"), EVERYTHING)
    assert found.obligations[0].reason == (
        "100 examples of model:step, both sides reached, with gradients, NaN, infinities and empty inputs"
    )


def test_every_assumption_that_the_rules_make_is_in_the_table() -> None:
    unknown = set()
    seen = set()
    for path in [*ROOT.glob("golden/*/*/before.py"), *ROOT.glob("tests/hostile/*/*.py")]:
        view = load([parse("before.py", path.read_text())]).view("before.py")
        for one in (o for rule in all_rules() for found in rule.find(view) for o in found.obligations):
            if one.discharge is ASSUMED:
                seen.add(one.claim)
                plain = replace(one, reason="")
                if needs_of(plain) is None and one.claim not in STAYS_ASSUMED:
                    unknown.add(one.claim)

    assert not unknown
    assert len(seen) > 15


def test_claims_need_only_what_is_named() -> None:
    assert not CHECKED_BY.keys() & STAYS_ASSUMED.keys()
    assert {need for needs in CHECKED_BY.values() for need in needs} == set(Need)


def test_dtypes_are_exercised_where_those_of_the_recorded_run_are_all_that_count() -> None:
    claim = "the statements after it cannot fail or warn"
    span = Span(1, 0, 1, 4)
    finding = Finding(
        "GBF101", "x", span, "found", "f", "compiled", (Obligation(claim, Discharge.ASSUMED, "x"),), Fix("t", ())
    )
    facts = CheckFacts("m:f", 100, (ConditionFacts(1, reached=True),), special=3, empty=2)
    assert with_checked(finding, facts).obligations[0].discharge is Discharge.ASSUMED
    (met,) = with_checked(finding, replace(facts, as_recorded=True)).obligations
    assert (met.discharge, met.reason) == (
        Discharge.CHECKED,
        "100 examples of m:f, both sides reached, NaN, infinities and empty inputs, dtypes as recorded",
    )


def test_a_change_that_a_condition_controls_is_exercised_with_it() -> None:
    around = ConditionFacts(2, reached=True, with_gradients=True, end_line=2, controls_to=6)
    assert met("both sides have the same shape", replace(EVERYTHING, conditions=(around,))) is CHECKED
    shorter = replace(EVERYTHING, conditions=(replace(around, controls_to=5),))
    assert met("both sides have the same shape", shorter) is ASSUMED
    one_side = replace(EVERYTHING, conditions=(replace(around, reached=False),))
    assert met("both sides have the same shape", one_side) is ASSUMED
