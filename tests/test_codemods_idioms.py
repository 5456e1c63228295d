"""Idioms with an equivalent that PyTorch follows: small variants, and what the installed version changes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gbfix.analysis.capabilities import KNOWN, Torch
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Finding, Safety
from gbfix.engine.passes import fix_text

GOLDEN = Path(__file__).parent.parent / "golden"
RULES = [rule for rule in all_rules() if rule.code.startswith("GBF6")]
CASES = sorted(path for rule in RULES for path in (GOLDEN / rule.name.replace("-", "_")).glob("*/before.py"))


def found(text: str, torch: Torch = KNOWN) -> list[Finding]:
    view = load([parse("program.py", text)], torch=torch).view("program.py")
    return [finding for rule in RULES for finding in rule.find(view)]


def program(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"import copy\nimport torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n{lines}\n"


def refusal(body: str) -> str:
    (finding,) = found(program(body))
    assert finding.safety is Safety.REFUSED
    assert finding.advice
    return finding.obligations[0].reason


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_what_pytorch_captures_is_left_alone(case: Path) -> None:
    assert found(case.read_text(), Torch("3.0", lambda _probe: True)) == []


def test_a_replacement_that_is_not_captured_is_not_made() -> None:
    nothing = Torch("2.6", lambda _probe: False)
    text = program("y = torch.full_like(x, (x > 0).sum())\nreturn copy.copy([y]), torch.get_default_device()")
    assert [(one.code, one.safety) for one in found(text, nothing)] == [
        ("GBF602", Safety.REFUSED),
        ("GBF603", Safety.REFUSED),
    ]


@pytest.mark.parametrize(
    "before",
    [
        "t.requires_grad = True",
        "t.requires_grad_()",
        "t.add_(x)",
        "t[0] = x[0]",
        "t += x",
        "[t][0].add_(x)",
        "s = t\ns.add_(x)",
    ],
)
def test_a_tensor_that_may_require_a_gradient_by_then_keeps_its_setting(before: str) -> None:
    text = program(f"t = torch.zeros(2)\n{before}\nt.requires_grad = False\nreturn t + x")
    assert {finding.safety for finding in found(text)} == {Safety.REFUSED}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("torch._check(x.shape[0] > 1, lambda n=2: f'{n} rows')\nreturn x", "lambda n=2: f'{n} rows' does"),
        ("n = x.sum().item()\ntorch._check(n > 1, lambda: f'{n}')\nreturn x", "n may be something else"),
        ("torch._check(x > 1, lambda: f'{x}')\nreturn x", "x may be something else"),
        ("class A:\n    pass", "A is not"),
        ("k = 2\nclass A:\n    def g(self):\n        return k\nreturn A", "k is one of the function's"),
        ("class A:\n    k = 2\ny = x * A.k\ndel A\nreturn y", "A is bound again"),
        ("math = 3\nreturn x * int(torch.prod(torch.tensor(x.shape))) * math", "the name math is something else here"),
    ],
)
def test_refused(body: str, reason: str) -> None:
    assert refusal(body) == reason


@pytest.mark.parametrize(
    "body",
    [
        "class A:\n    def g(self):\n        self.me = self.g\nreturn A().g()",
        "class A:\n    def g(self):\n        return self\nreturn A().g()",
        "class A:\n    def g(*args):\n        return args\nreturn A().g()",
        "class A:\n    def g(self):\n        return 1\nreturn A().g",
        "class A:\n    k = 1\nreturn A",
        "class A:\n    k = 1\na = A()\nreturn [a]",
    ],
)
def test_a_class_whose_objects_may_leave_is_only_assumed_to_be_the_same(body: str) -> None:
    (finding,) = found(program(body))
    assert finding.safety is Safety.UNSAFE


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("return x + copy.deepcopy(-(x > 0).sum()) ** 2", "return x + (-(x > 0).sum()).clone() ** 2"),
        (
            "y = x + 1; torch._check(not x.ndim == 3 and x.ndim in (1, 2), lambda: f'{x.shape}'); return y",
            "y = x + 1\nif not (not x.ndim == 3 and x.ndim in (1, 2)):\n    raise RuntimeError(f'{x.shape}')\nreturn y",
        ),
        ("class A: k = 2\nreturn x * A.k", ""),
        ("t = torch.zeros(2); t.requires_grad = False; y = t + x\nreturn y", "t = torch.zeros(2); y = t + x\nreturn y"),
    ],
)
def test_safe(body: str, after: str) -> None:
    result = fix_text(program(body), found)
    assert result.changed
    if after:
        assert result.after == program(after)


@pytest.mark.parametrize(
    "body",
    [
        "def sorted(v):\n    return v\nreturn sorted([x.sum(), x.sum()])",
        "return sorted([x, -x], key=len)",
        "n = torch.prod(torch.tensor(x.shape))\nreturn x.view(n), n",
        "global n\nn = torch.prod(torch.tensor(x.shape))\nreturn x.view(n)",
        "return copy.deepcopy([1, 2]), copy.copy(3), copy.copy(x.shape)",
        "return torch.full_like(x, 2.0), x.new_full((2,), 3)",
    ],
)
def test_nothing_to_find(body: str) -> None:
    assert found(program(body)) == []
