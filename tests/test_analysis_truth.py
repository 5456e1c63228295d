"""Asking whether something is true fails for a tensor of several elements, and is a requirement like others."""

from __future__ import annotations

import ast

import pytest

from gbfix.analysis.flow import flow_of
from gbfix.analysis.project import load
from gbfix.analysis.source import parse

SOURCE = """\
import torch


@torch.compile
def f(x: torch.Tensor, flag: bool, anything):
    {before}
    {after}
    return x
"""


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("pass", "if x: pass", {"x is true or false"}),
        ("pass", "if anything: pass", {"anything is true or false"}),
        ("pass", "assert anything", {"anything is true or false"}),
        ("pass", "y = 1 if anything else 2", {"anything is true or false"}),
        ("pass", "y = not x", {"x is true or false"}),
        ("pass", "y = x and flag", {"x is true or false"}),
        ("pass", "if flag and x: pass", {"flag and x is true or false"}),
        ("pass", "y = flag and x", set()),
        ("pass", "if flag: pass", set()),
        ("pass", "if torch.isnan(x).any(): pass", set()),
        ("pass", "if anything is None: pass", set()),
        ("flag = x", "if flag: pass", {"flag is true or false"}),
        ("if x: pass", "if x: pass", set()),
        ("assert x", "y = not x", set()),
        ("y = flag and not x", "if x: pass", {"x is true or false"}),
    ],
)
def test_what_the_second_statement_requires(before: str, after: str, wanted: set[str]) -> None:
    project = load([parse("m.py", SOURCE.format(before=before, after=after))])
    (compiled,) = project.compiled["m.py"]
    flow = flow_of(project.view("m.py"), compiled.function)
    body = compiled.function.node.body
    assert isinstance(body, list)
    statement = body[1]
    state = flow.before[statement]
    assert isinstance(statement, ast.If | ast.Assert | ast.Assign)
    asked = statement.value if isinstance(statement, ast.Assign) else statement.test
    required = flow.evaluate(asked, state)[1].effects.requirements
    assert {one.text for one in required if one.key not in state.established} == wanted
