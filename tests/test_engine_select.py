from __future__ import annotations

import pytest

from gbfix.engine.model import ConfigurationError, Rule
from gbfix.engine.select import matches, select


def rule(code: str, name: str) -> Rule:
    return Rule(code, name, "", "", lambda _: ())


RULES = [rule("GBF201", "item-in-arithmetic"), rule("GBF101", "tensor-value-branch"), rule("GBF102", "mixed-branch")]


def selected(chosen: list[str], ignored: list[str]) -> list[str]:
    return [rule.code for rule in select(RULES, chosen, ignored)]


@pytest.mark.parametrize(
    ("chosen", "ignored", "codes"),
    [
        ([], [], ["GBF101", "GBF102", "GBF201"]),
        (["ALL"], [], ["GBF101", "GBF102", "GBF201"]),
        (["GBF1"], [], ["GBF101", "GBF102"]),
        (["GBF102"], [], ["GBF102"]),
        (["mixed-branch", "GBF2"], [], ["GBF102", "GBF201"]),
        ([], ["GBF1"], ["GBF201"]),
        ([], ["ALL"], []),
        (["GBF1"], ["GBF1"], []),
        (["GBF1"], ["GBF101"], ["GBF102"]),
        (["GBF101"], ["GBF1"], ["GBF101"]),
        (["tensor-value-branch"], ["GBF10"], ["GBF101"]),
        (["GBF101"], ["tensor-value-branch"], []),
        (["ALL"], ["GBF"], []),
        (["GBF2"], ["ALL"], ["GBF201"]),
    ],
)
def test_the_more_specific_selector_wins_and_ignoring_wins_a_draw(
    chosen: list[str], ignored: list[str], codes: list[str]
) -> None:
    assert selected(chosen, ignored) == codes


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("GBF110", "did you mean GBF10"),
        ("gbf101", "did you mean GBF101"),
        ("tensor-value-brunch", "did you mean tensor-value-branch"),
        ("E501", "gbfix rules"),
        ("GBF9", "'GBF9'"),
        ("G", "'G'"),
        ("", "''"),
        ("tensor", "'tensor'"),
    ],
)
@pytest.mark.parametrize("option", ["chosen", "ignored"])
def test_an_unknown_selector_is_named_with_the_nearest_known_one(selector: str, hint: str, option: str) -> None:
    chosen, ignored = ([selector], []) if option == "chosen" else ([], [selector])
    with pytest.raises(ConfigurationError) as error:
        select(RULES, chosen, ignored)
    assert repr(selector) in str(error.value)
    assert hint in str(error.value)


def test_all_is_known_even_without_rules() -> None:
    assert select([], ["ALL"], []) == ()


def test_names_match_only_in_full() -> None:
    assert matches("mixed-branch", "GBF102", "mixed-branch")
    assert not matches("mixed", "GBF102", "mixed-branch")
