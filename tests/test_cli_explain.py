from __future__ import annotations

import pytest
from cli_project import Project

from gbfix.codemods import all_rules
from gbfix.engine.model import Rule

RULES = all_rules()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_by_code_and_by_name(project: Project, rule: Rule) -> None:
    by_code = project.gbfix("explain", rule.code)
    assert by_code.code == 0
    assert by_code.out.startswith(f"{rule.code} {rule.name}\n\n{rule.summary}\n\n")
    assert rule.documentation.strip() in by_code.out
    assert project.gbfix("explain", rule.name).out == by_code.out
    assert project.gbfix("explain", rule.code.lower()).out == by_code.out


@pytest.mark.parametrize("wanted", ["GBF1O1", "tensor-value-brnch"])
def test_an_unknown_rule_with_a_near_match(project: Project, wanted: str) -> None:
    done = project.gbfix("explain", wanted)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: no rule is called '{wanted}'; did you mean GBF1")


def test_an_unknown_rule_without_one(project: Project) -> None:
    done = project.gbfix("explain", "what?")
    assert (done.code, done.err) == (2, "error: no rule is called 'what?'; `gbfix rules` lists them\n")


def test_an_id_of_pytorch_leads_to_the_rules(project: Project) -> None:
    known = project.gbfix("explain", "gb0170")
    assert known.code == 0
    assert "GBF101  tensor-value-branch" in known.out
    unknown = project.gbfix("explain", "GB0001")
    assert unknown.code == 0
    assert "no rule of gbfix deals with it" in unknown.out
