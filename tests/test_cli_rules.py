from __future__ import annotations

from cli_project import Project

from gbfix.codemods import all_rules


def test_every_rule_is_listed_in_order_of_its_code(project: Project) -> None:
    done = project.gbfix("rules")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[:2] for line in lines] == [[rule.code, rule.name] for rule in all_rules()]
    assert all(line.endswith(rule.summary) for line, rule in zip(lines, all_rules(), strict=True))
