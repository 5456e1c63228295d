"""`requires_grad = True` in compiled code: for which tensors a graph can do the same, and why not for others."""

from __future__ import annotations

import textwrap

import pytest

from gbfix.analysis.capabilities import CAPTURED_IN_2_13, Torch
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.codemods._requires_grad_set import OWN_GRADIENT, PROBE
from gbfix.engine.model import Discharge, Finding, Safety
from gbfix.engine.passes import fix_text

RULE = next(rule for rule in all_rules() if rule.code == "GBF605")
TORCH = Torch("2.13.0", CAPTURED_IN_2_13.__contains__)


def found(text: str, torch: Torch = TORCH) -> list[Finding]:
    return list(RULE.find(load([parse("program.py", text)], torch=torch).view("program.py")))


def program(body: str, imports: str = "import torch") -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"{imports}\n\n\n@torch.compile\ndef f(x: torch.Tensor, on: bool, layer=None):\n{lines}\n"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("x.requires_grad = True\nreturn x * 2", "x is not assigned right before"),
        ("h = x.contiguous()\nh.requires_grad = True\nreturn h * 2", "x.contiguous() may be held by others"),
        ("h = x if on else x[0]\nh.requires_grad = True\nreturn h * 2", "x if on else x[0] may be held by others"),
        ("h = x[0]\ny = [h]\nh.requires_grad = True\nreturn h * 2", "h is used in between"),
        ("h = x[0]\nh += 1\nh.requires_grad = True\nreturn h * 2", "h is not assigned right before"),
        ("h = x[1]\nif on:\n    h = x[0]\nh.requires_grad = True\nreturn h * 2", "h is not always the one of line 8"),
        ("h = x[0]\nfor _ in range(2):\n    h.requires_grad = True\nreturn h * 2", "it stands in a for"),
        ("h = x[0]\nh.requires_grad = True\nreturn h * 2, h.grad", "h.grad does"),
        ("h = x[0]\nh.requires_grad = True\nreturn h * 2, h.is_leaf", "h.is_leaf does"),
        ("h = x[0]\nh.requires_grad = True\nh[0] = 1.0\nreturn h * 2", "it is here"),
        ("h = x[0]\nh.requires_grad = True\nh.add_(1)\nreturn h * 2", "add_ does"),
        ("h = x[0]\nh.requires_grad = True\nreturn (lambda: h * 2)()", "an inner function holds h"),
        ("h = x[0].requires_grad_()\nreturn h * 2", "x[0] is no name of its own"),
        ("h = x[0]\nh.requires_grad = on\nreturn h * 2", "h may require one afterwards"),
    ],
)
def test_what_may_be_seen_stays(body: str, reason: str) -> None:
    (finding,) = found(program(body))
    assert finding.safety is Safety.REFUSED
    assert finding.obligations[0].reason == reason
    assert finding.advice


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("h = x[0]\nh.requires_grad = True\nreturn torch.sin(h) + h[1:] * -h", ""),
        ("h = x[0]\nh.requires_grad = True\nprint(h.shape)\nreturn torch.add(h, other=h)", ""),
        ("h = x[0]\nh.requires_grad = True\nreturn layer(h)", "layer(h) gets it"),
        ("h = x[0]\nh.requires_grad = True\nreturn layer(of=h)", "layer(of=h) gets it"),
        ("h = x[0]\nh.requires_grad = True\nreturn h", "h is handed on"),
        ("h = x[0]\nh.requires_grad = True\nlayer.kept = h\nreturn h * 2", "h is handed on"),
    ],
)
def test_who_gets_the_tensor_may_ask_for_its_gradient(body: str, reason: str) -> None:
    (finding,) = found(program(body))
    (own,) = (one for one in finding.obligations if one.claim == OWN_GRADIENT)
    assert (own.reason if own.discharge is Discharge.ASSUMED else "") == reason
    assert finding.safety is (Safety.UNSAFE if reason else Safety.SAFE)


def test_the_new_function_is_defined_once() -> None:
    body = "h = x[0]\nh.requires_grad = True\ny = x[1]\ny.requires_grad_(True)\nreturn h * y"
    after = fix_text(program(body), found).after
    assert after.count("class _RequiringGradient(") == 1
    assert "    y = _requiring_gradient(y)\n" in after
    assert found(after) == []


@pytest.mark.parametrize(
    ("imports", "reason"),
    [
        ("import torch\n_ANY_LEAF = 1", "the module has a _requiring_gradient already"),
        ("if True:\n    import torch\nimport os", "torch is imported in another way"),
    ],
)
def test_the_new_function_needs_a_place(imports: str, reason: str) -> None:
    findings = found(program("h = x[0]\nh.requires_grad = True\nreturn h * 2", imports))
    assert [finding.obligations[0].reason for finding in findings] == [reason]


def test_without_the_function_of_autograd_it_stays() -> None:
    without = Torch("2.1.0", lambda probe: probe in CAPTURED_IN_2_13 - {PROBE})
    (finding,) = found(program("h = x[0]\nh.requires_grad = True\nreturn h * 2"), without)
    assert finding.obligations[0].reason == "h may require one afterwards"
