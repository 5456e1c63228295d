"""Sides of a branch that begin by preparing an attribute."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.branch_around_call import RULE as AROUND_CALL
from gbfix.codemods.tensor_value_branch import RULE as BRANCH
from gbfix.engine.model import Finding, Rule, Safety

HEAD = """import torch

class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
"""


def finding(side: str, other: str, end: str = "return x * self.chosen", rule: Rule = AROUND_CALL) -> Finding:
    def lines(text: str, width: int) -> str:
        return "".join(" " * width + line + "\n" for line in text.split("\n"))

    body = "        if x.sum() > 0:\n" + lines(side, 12) + "        else:\n" + lines(other, 12) + lines(end, 8)
    view = load([parse("a.py", HEAD + body + "\n\ncompiled = torch.compile(M())\n")]).view("a.py")
    found = list(rule.find(view))
    assert len(found) == 1
    return found[0]


MAKES = 'if not hasattr(self, "long"):\n    self.long = self.make()'
REGISTERS = 'self.register_buffer("chosen", self.long)'
OTHER = 'self.register_buffer("chosen", self.short)'


@pytest.mark.parametrize(
    "prepares",
    [
        MAKES,
        "if self.long is None:\n    self.long = self.make()",
        "if self.long is None:\n    size = 3\n    self.long, _ = self.make(size)",
        "self.long = self.long.to(x.device)",
    ],
)
def test_what_a_side_prepares_comes_behind_the_condition(prepares: str) -> None:
    found = finding(f"{prepares}\n{REGISTERS}", OTHER)
    assert found.safety is Safety.UNSAFE
    assert found.fix is not None
    source = found.fix.replacements[0].source
    assert source.index("condition = x.sum() > 0") < source.index(prepares.split("\n")[0]) < source.index("torch.where")


def test_a_side_that_assigns_what_it_prepared_is_selected_too() -> None:
    found = finding(f"{MAKES}\ny = self.long", "y = y * 2", "return x * y", BRANCH)
    assert found.fix is not None
    assert any(one.claim.startswith("what a side prepares") for one in found.obligations)


@pytest.mark.parametrize(
    ("side", "other", "reason"),
    [
        (f"{MAKES}\n{REGISTERS}", 'self.register_buffer("chosen", self.long + 1)', "is used outside of it"),
        (f"{MAKES}\n{REGISTERS}", f"{MAKES}\n{OTHER}", "is used outside of it"),
        (f"{MAKES}\n{REGISTERS}", 'self.register_buffer("chosen", getattr(self, "long"))', "is used outside of it"),
        (
            'if not hasattr(self, "long"):\n    self.long = torch.rand(3)\n' + REGISTERS,
            OTHER,
            "torch.rand(3) draws random numbers",
        ),
        ('if not hasattr(self, "long"):\n    self.long = print(1)\n' + REGISTERS, OTHER, "prints"),
        (
            'if not hasattr(self, "long"):\n    self.long = self.make()\n    self.seen = 1\n' + REGISTERS,
            OTHER,
            "is a Python branch inside a side",
        ),
        ('if not hasattr(self, "other"):\n    self.long = self.make()\n' + REGISTERS, OTHER, "is a Python branch"),
        (f"if self.training:\n    self.long = self.make()\n{REGISTERS}", OTHER, "is a Python branch inside a side"),
    ],
)
def test_sides_that_do_more_than_prepare_stay(side: str, other: str, reason: str) -> None:
    found = finding(side, other)
    assert found.fix is None
    assert reason in found.obligations[0].reason


def test_a_name_that_is_used_elsewhere_stays() -> None:
    side = 'if not hasattr(self, "long"):\n    self.long, y = self.make()\n' + REGISTERS
    found = finding(side, OTHER, "return y * self.chosen")
    assert found.fix is None
    assert "y, which it binds, is used elsewhere" in found.obligations[0].reason


def test_what_the_rest_of_the_function_asks_about_stays() -> None:
    found = finding(f"{MAKES}\n{REGISTERS}", OTHER, 'return x * self.chosen if hasattr(self, "long") else x')
    assert found.fix is None
    assert "is used outside of it" in found.obligations[0].reason


def test_what_a_check_need_not_compare_is_told() -> None:
    found = finding(f"{MAKES}\n{REGISTERS}", f"self.short = self.short.to(x.device)\n{OTHER}")
    assert set(found.apart) == {"long", "chosen", "short"}
    assert finding(f"{MAKES}\n{REGISTERS}", OTHER, "return x.long()").apart == ()
