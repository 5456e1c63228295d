"""What Python does with a value fails for some values, and is a requirement like those of operations."""

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
    assert _required(before, after) == wanted


def _required(before: str, after: str) -> set[str]:
    project = load([parse("m.py", SOURCE.format(before=before, after=after))])
    (compiled,) = project.compiled["m.py"]
    flow = flow_of(project.view("m.py"), compiled.function)
    body = compiled.function.node.body
    assert isinstance(body, list)
    statement = body[1]
    state = flow.before[statement]
    match statement:
        case ast.If(test=asked) | ast.Assert(test=asked) | ast.Assign(value=asked) | ast.For(iter=asked):
            required = flow.evaluate(asked, state)[1].effects.requirements
        case _:
            raise AssertionError("not read by this test")
    return {one.text for one in required if one.key not in state.established}


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("a, b = anything", {"anything has 2 elements"}),
        ("(a, b), c = (1, 2), 3", set()),
        ("(a, b), c = anything, 3", {"anything, 3 has 2 elements"}),
        ("a, *b = 1, 2", {"1, 2 has 2 elements"}),
        ("for a in anything: pass", {"anything can be iterated over"}),
        ("for a in x: pass", {"x can be iterated over"}),
        ("for a in [1, 2]: pass", set()),
        ("for a in range(3): pass", {"range(3) does not raise"}),
        ("for a, b in enumerate([1]): pass", set()),
        ("for a, b in [anything]: pass", {"each element of [anything] has 2 elements"}),
        ("for a in x.shape: pass", set()),
        ("a = (*anything, 1)", {"anything can be iterated over"}),
        ("a = {anything: 1}", {"anything is hashable"}),
        ("a = {1, 'b', x, torch.float32}", set()),
        ("a = f'{anything:03d}'", {"anything fits its format"}),
        ("a = f'{x:.2f}'", {"x fits its format"}),
        ("a = f'{flag:.2f} {anything}'", set()),
        ("a = f'{flag!r:.2f}'", {"flag fits its format"}),
        ("a = x in (1, 2)", {"x in (1, 2) does not raise"}),
        ("a = flag in (1, 2)", set()),
        ("a = 3 in anything", {"3 in anything does not raise"}),
        ("a = flag in 'abc'", {"flag in 'abc' does not raise"}),
        ("a = 1 < anything < 3", {"1 < anything < 3 does not raise"}),
        ("a = 1 < flag < 3", set()),
        ("a = x.item()", {"x has one element"}),
        ("a = torch.isnan(x).any().item()", set()),
        ("a = isinstance(x, anything)", {"isinstance(x, anything) does not raise"}),
        ("a = isinstance(x, (int, torch.Tensor))", set()),
        ("a = x.clamp()", {"x.clamp() does not raise", "x is not a complex tensor"}),
    ],
)
def test_what_a_statement_requires(statement: str, wanted: set[str]) -> None:
    assert _required("pass", statement) == wanted
