"""Quotients of sizes, and what becomes of an integer in their place."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.size_computed_with_tensors import RULE
from gbfix.engine.model import Finding, Safety


def findings(body: str, signature: str = "x: torch.Tensor, n: int") -> list[Finding]:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = f"import torch\n\n\n@torch.compile\ndef f({signature}):\n{lines}"
    return list(RULE.find(load([parse("f.py", text)]).view("f.py")))


def new_source(body: str) -> list[str]:
    return [one.fix.replacements[0].source for one in findings(body) if one.fix is not None]


QUOTIENT = 'torch.div(x.size(0), n, rounding_mode="floor")'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"return x.view({QUOTIENT}, -1)", "x.size(0) // n"),
        (f"return x.new_zeros(({QUOTIENT} + 1, 2))", "x.size(0) // n"),
        (f"sizes = [2, {QUOTIENT}]\nreturn [x for _ in range(sizes[1])]", "x.size(0) // n"),
        (f"k = {QUOTIENT}\nreturn x[:k]", "x.size(0) // n"),
        (f"return torch.zeros(size=(2, {QUOTIENT}))", "x.size(0) // n"),
        ('a, b = x.shape\nreturn x.view(torch.div(a, n * 2, rounding_mode="trunc"))', "a // (n * 2)"),
    ],
)
def test_an_integer_takes_the_place_of_a_size(body: str, expected: str) -> None:
    assert new_source(body) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        f"return {QUOTIENT}",
        f"k = {QUOTIENT}\nreturn x[:k] + k",
        f"k = {QUOTIENT}\nk = k + 1\nreturn x[:k]",
        f"k = {QUOTIENT}\ndef g():\n    return k\nreturn x[:k], g()",
        f"return x.view({QUOTIENT} / 2)",
        f"return x.view({QUOTIENT} * x.sum())",
        f"return x.sum({QUOTIENT})",
        "return x.view(torch.div(x.size(0), n))",
        "return x.view(torch.div(x.size(0), 2.0, rounding_mode='floor'))",
        "return x.view(torch.div(x.size(0), x, rounding_mode='floor'))",
        "return x.view(torch.div(n, x.size(0), rounding_mode='floor'))",
        "a, b = x.shape\na = x\nreturn x.view(torch.div(a, n, rounding_mode='floor'))",
        "a, *b = x.shape\nreturn x.view(torch.div(b, n, rounding_mode='floor'))",
    ],
)
def test_what_is_no_size_stays(body: str) -> None:
    assert new_source(body) == []


def test_a_divisor_of_unknown_sign_is_assumed_positive() -> None:
    (found,) = findings(f"return x.view({QUOTIENT}, -1)")
    assert found.safety is Safety.UNSAFE
    (found,) = findings("return x.view(torch.div(x.size(0), 3, rounding_mode='trunc'), -1)")
    assert found.safety is Safety.SAFE
