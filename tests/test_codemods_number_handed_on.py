"""A number that is handed to functions: which uses of it let it stay a tensor, and which do not."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.number_handed_on import RULE
from gbfix.engine.model import Finding

PROGRAM = """
import torch


def scale(x, n):
    {use}


@torch.compile
def f(x: torch.Tensor, w: torch.Tensor):
    n = w.sum().clamp(min=1).item()
    return scale(x, n)
""".lstrip()

METHODS = """
import torch
from torch import nn


class Base(nn.Module):
    def scale(self, x, n):
        return x.sum() / n

    def forward(self, x: torch.Tensor, w: torch.Tensor):
        n = w.sum().clamp(min=1).item()
        return self.scale(x, n)


class Mixed:
    def scale(self, x, n):
        return x, n


class Derived({bases}):
    pass


model = torch.compile(Derived())
""".lstrip()


def found(**texts: str) -> list[Finding]:
    project = load([parse(f"{name}.py", text) for name, text in texts.items()])
    return [finding for path in project.files for finding in RULE.find(project.view(path))]


@pytest.mark.parametrize(
    "use", ["return x.sum() / n", "return n * x * n", "return scale(x, n=n)", "y = 2\n    return x / n"]
)
def test_scaling_is_followed(use: str) -> None:
    (finding,) = found(program=PROGRAM.format(use=use)) or [None]
    assert (finding is not None and finding.fix is not None) == ("scale(x" not in use)


@pytest.mark.parametrize(
    "use",
    [
        "return n",
        "return x + n",
        "return n / x",
        "return x ** n",
        "return x[: int(n)]",
        "return x / n if n > 2 else x",
        "print(n)\n    return x / n",
        "x *= n\n    return x",
        "n = n + 1\n    return x / n",
        "return x / (n * 2)",
        "return (lambda: x / n)()",
        "return [x / n for _ in range(n)]",
        "eval('n')\n    return x / n",
        "return x.mul(n)",
        "yield x / n",
        "return x.half() / n",
        "return x.long() * n",
        "return x.double() * n + x.float() * n",
    ],
)
def test_another_use_keeps_the_number(use: str) -> None:
    assert found(program=PROGRAM.format(use=use)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return scale(x, n)", "y = scale(x, n)\n    n = 3\n    return y, n"),
        ("return scale(x, n)", "return scale(x, n), n"),
        ("return scale(x, n)", "return scale(*[x, n])"),
        ("return scale(x, n)", "return scale(x, **{'n': n})"),
        ("return scale(x, n)", "return max(scale(x, n), len([n]))"),
        ("return scale(x, n)", "return unknown(x, n)"),
        ("return scale(x, n)", "g = lambda: n\n    return scale(x, n), g"),
        ("    n = w.sum().clamp(min=1).item()", "    n = 1.0\n    if x.dim() > 1:\n        n = w.sum().item()"),
        ("w.sum().clamp(min=1).item()", "w.argmax().item()"),
        ("w.sum().clamp(min=1).item()", "int(w.sum())"),
        ("w.sum().clamp(min=1)", "w.half().clamp(min=1)"),
        ("def scale(x, n)", "def scale(x, *n)"),
        ("def scale(x, n)", "@staticmethod\ndef scale(x, n)"),
        ("def scale(x, n)", "@cache\ndef scale(x, n)"),
        ("@torch.compile", "@torch.compile(fullgraph=True)"),
    ],
)
def test_a_number_that_goes_elsewhere_is_kept(old: str, new: str) -> None:
    text = PROGRAM.format(use="return x.sum() / n")
    assert found(program=text)
    assert found(program=text.replace(old, new)) == []


def test_methods_are_followed_through_derived_classes() -> None:
    assert found(program=METHODS.format(bases="Base"))
    assert found(program=METHODS.format(bases="Mixed, Base")) == []


def test_a_table_that_others_may_change_is_not_followed() -> None:
    text = PROGRAM.format(use="return x.sum() / n").replace(
        "return scale(x, n)", "table = {'a': scale}\n    {change}\n    return table['a'](x, n)"
    )
    assert found(program=text.replace("{change}", "name = 'a' in table"))
    assert found(program=text.replace("{change}", "table['a'] = print")) == []
    assert found(program=text.replace("{change}", "fill(table)")) == []


def test_functions_of_other_files_are_followed() -> None:
    other = "def scale(x, n):\n    return {}\n"
    text = "from other import scale\n" + PROGRAM.format(use="").replace("def scale(x, n):\n    \n", "")
    assert found(program=text, other=other.format("x / n"))
    assert found(program=text, other=other.format("x - n")) == []
    assert found(program=text) == []
