"""Obligations that rest on a run are told from those that the source proves."""

from __future__ import annotations

from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Safety, Span
from gbfix.engine.observed import with_observed

SPAN = Span(3, 0, 6, 0)
FIX = Fix("use torch.where", (Replacement(SPAN, "y = 1"),))


def finding(*obligations: tuple[str, Discharge], code: str = "GBF101") -> Finding:
    made = tuple(Obligation(claim, discharge, f"because of {claim}", 4) for claim, discharge in obligations)
    return Finding(code, "a-rule", SPAN, "found", "f", "compiled", made, FIX)


PROVED, ASSUMED, VIOLATED, OBSERVED = Discharge.PROVED, Discharge.ASSUMED, Discharge.VIOLATED, Discharge.OBSERVED


def test_what_was_assumed_and_now_holds_is_observed() -> None:
    (found,) = with_observed(
        [finding(("a", PROVED), ("b", PROVED))],
        [finding(("a", PROVED), ("b", ASSUMED))],
        {3: "seen 7 times"},
        "run.json",
    )
    assert [o.discharge for o in found.obligations] == [PROVED, OBSERVED]
    assert found.region == "compiled; seen 7 times, run.json"
    assert found.safety is Safety.SAFE


def test_what_the_source_alone_proves_needs_no_run() -> None:
    alone = finding(("a", PROVED), ("c", PROVED))
    assert with_observed([finding(("a", PROVED), ("b", PROVED))], [alone], {3: "seen 7 times"}, "run.json") == (alone,)


def test_what_stays_assumed_stays_unsafe() -> None:
    (found,) = with_observed([finding(("a", ASSUMED))], [finding(("a", ASSUMED))], {3: "seen 1 time"}, "run.json")
    assert found.obligations[0].discharge is ASSUMED
    assert found.region == "compiled"
    assert found.safety is Safety.UNSAFE


def test_what_a_run_contradicts_is_violated_and_says_where_that_was_seen() -> None:
    (found,) = with_observed([finding(("a", VIOLATED))], [finding(("a", ASSUMED))], {3: "seen 1 time"}, "run.json")
    assert found.obligations[0].discharge is VIOLATED
    assert found.region == "compiled; seen 1 time, run.json"
    assert found.safety is Safety.REFUSED


def test_a_finding_of_another_rule_proves_nothing() -> None:
    (found,) = with_observed([finding(("a", PROVED))], [finding(("a", PROVED), code="GBF107")], {}, "run.json")
    assert found.obligations[0].discharge is OBSERVED


def test_a_claim_that_one_place_leaves_open_is_not_proved() -> None:
    (found,) = with_observed(
        [finding(("a", PROVED), ("a", PROVED))],
        [finding(("a", PROVED), ("a", ASSUMED))],
        {3: "seen 2 times"},
        "run.json",
    )
    assert [o.discharge for o in found.obligations] == [OBSERVED, OBSERVED]
