"""Integers in buffers: what is followed, and what is left alone."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.number_in_buffer import RULE
from gbfix.engine.model import Finding
from gbfix.engine.passes import fix_text

FRAME = """\
import torch
from torch import nn


class Sized(nn.Module):
    def __init__(self, n: float):
        super().__init__()
        {made}

    {methods}


model = Sized(2.7)


@torch.compile
def f(x: torch.Tensor):
    return model(x)
"""
MADE = "self.k = nn.Buffer(torch.tensor(3), persistent=False)"


def find(text: str) -> list[Finding]:
    return list(RULE.find(load([parse("m.py", text)]).view("m.py")))


def program(methods: str, made: str = MADE) -> str:
    return FRAME.format(made=made.replace("\n", "\n        "), methods=methods.replace("\n", "\n    "))


def test_a_number_is_followed_through_loops_methods_and_tuples() -> None:
    methods = """\
def _left(self, x: torch.Tensor):
    return x.shape[0] - self.k

def _most(self, a, b):
    return max(a, b)

def forward(self, x: torch.Tensor):
    n = self._left(x)
    while n > 2:
        n = n - self.k
    most = self._most(n, self.k) if n > 0 else 0
    return torch.nn.functional.pad(x[most // 2 :], (n, self.k), value=1.0)"""
    result = fix_text(program(methods), find, unsafe=True)

    assert result.after.count("self.k_number") == 5
    assert "self.k_number = 3" in result.after


def test_the_number_is_the_one_that_the_tensor_holds() -> None:
    made = "k = torch.tensor(n, dtype=torch.int64)\nself.k = nn.Buffer(k, persistent=False)"
    result = fix_text(program("def forward(self, x: torch.Tensor):\n    return x[: self.k]", made), find, unsafe=True)

    assert "k_number = int(n)\n" in result.after


def test_a_rounded_quotient_keeps_the_rounding_of_large_numbers() -> None:
    methods = """\
def forward(self, x: torch.Tensor):
    q = x.shape[0] / self.k
    q = torch.floor(q).to(torch.int64)
    return x[:q]"""
    result = fix_text(program(methods), find, unsafe=True)

    assert "q = (x.shape[0]) // self.k_number" in result.after
    assert "q = torch.floor(q).to(torch.int64)" in result.after
    assert not fix_text(result.after, find, unsafe=True).changed


@pytest.mark.parametrize(
    "made",
    [
        "k = torch.tensor(3)\nk.add_(1)\nself.k = nn.Buffer(k, persistent=False)",
        "k = torch.tensor(3)\nself.k = nn.Buffer(k, persistent=False)\nk.add_(1)",
        "self.k = nn.Buffer(torch.tensor(3.0), persistent=False)",
        "self.k = nn.Buffer(torch.tensor([3]), persistent=False)",
        "self.k = nn.Buffer(torch.tensor(n), persistent=False)",
        f'{MADE}\nself.register_buffer("k", torch.tensor(5))',
        f'{MADE}\nsetattr(self, "k", torch.tensor(5))',
    ],
)
def test_a_tensor_that_may_hold_something_else_is_left_alone(made: str) -> None:
    text = program("def forward(self, x: torch.Tensor):\n    return x[: self.k]", made)

    assert not fix_text(text, find, unsafe=True).changed


@pytest.mark.parametrize(
    "body",
    [
        "return x[: self.k] * self.k",
        "return x[self.k] if x.shape[0] > self.k else x",
        "return x[: self.k], self.k",
        "return x[: self.k], f'{self.k}'",
        "return x[: self.k], [x for _ in range(3) if self.k > 1]",
        "return x[: self.k] if x.sum() > self.k else x",
        "return x[: self.k], self.k / 2",
        "return x[: self.k], print(self.k)",
    ],
)
def test_a_number_that_meets_something_else_is_left_alone(body: str) -> None:
    text = program(f"def forward(self, x: torch.Tensor):\n    {body}")

    assert not fix_text(text, find, unsafe=True).changed
