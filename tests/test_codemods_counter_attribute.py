"""Counters of modules: what is assumed of a program that reaches attributes in other ways, and what is left."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.counter_attribute import RULE
from gbfix.engine.model import Discharge, Finding, Safety

NET = """\
import copy

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._calls = 0

    def forward(self, x: torch.Tensor):
        self._calls += 1
        return x.float() * self._calls


"""
COMPILED = "def f(x, name):\n    net = Net()\n    compiled = torch.compile(net)\n    "


def finding(text: str) -> Finding:
    (found,) = RULE.find(load([parse("program.py", text)]).view("program.py"))
    return found


def assumed(text: str) -> set[str]:
    return {one.claim for one in finding(text).obligations if one.discharge is Discharge.ASSUMED}


def test_a_private_counter_in_single_precision_is_safe() -> None:
    assert finding(NET + COMPILED + "return compiled(x)\n").safety is Safety.SAFE


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param("return compiled(x), copy.copy(net)", id="a copy that shares the buffer"),
        pytest.param("return compiled(x), getattr(net, name)", id="a name that is computed"),
        pytest.param("return compiled(x), net.__dict__", id="all attributes"),
        pytest.param("return compiled(x), vars(net)", id="vars"),
        pytest.param("net.share_memory()\n    return compiled(x)", id="memory of several processes"),
    ],
)
def test_other_ways_to_the_attribute_are_assumed_away(rest: str) -> None:
    assert assumed(NET + COMPILED + rest + "\n") == {"every reader and writer of the attribute is known"}


@pytest.mark.parametrize("mode", ["torch.inference_mode()", "torch.device('meta')"])
def test_modules_made_in_a_mode_are_assumed_away(mode: str) -> None:
    text = COMPILED.replace("net = Net()", f"with {mode}:\n        net = Net()")
    assert assumed(NET + text + "return compiled(x)\n") == {"no transform or dispatch mode runs it"}


def test_a_quotient_rounds_otherwise() -> None:
    text = NET.replace("x.float() * self._calls", "self._calls / x.float()")
    assert assumed(text + COMPILED + "return compiled(x)\n") == {"arithmetic rounds as with a number"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("_calls", "__calls", id="a name that the class changes"),
        pytest.param("_calls", "_version", id="a name of every module"),
        pytest.param("    def __init__", "    _calls = 3\n\n    def __init__", id="an attribute of the class"),
        pytest.param(
            "    def forward", "    def __getstate__(self):\n        return 1\n\n    def forward", id="a hook"
        ),
        pytest.param("_calls = 0", "_calls = 9223372036854775807", id="a start beyond 64 bits"),
        pytest.param("+= 1", "+= 92233720368547758070", id="a step beyond 64 bits"),
    ],
)
def test_what_cannot_be_a_buffer(old: str, new: str) -> None:
    found = finding(NET.replace(old, new) + COMPILED + "return compiled(x)\n")
    assert found.safety is Safety.REFUSED
    assert found.fix is None
    assert found.advice
