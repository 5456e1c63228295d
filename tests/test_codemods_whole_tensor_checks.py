from __future__ import annotations

import pytest
import torch

from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.analysis.observed import by_line
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods._whole_tensor_checks import CHECK, whole_tensor_checks
from gbfix.engine.model import Discharge, Finding

RULE = ("GBF109", "guard-that-raises")


def found(
    line: str, *, decorator: str = "@torch.compile", device: str = "", first: str = "import torch"
) -> list[Finding]:
    """The findings in a function with this line. device: of the condition, where a run showed it."""
    text = f"{first}\n\n\n{decorator}\ndef f(c: torch.Tensor):\n    {line}\n    return c * 2\n"
    spec = ValueSpec("tensor", "torch.Tensor", TensorSpec("bool", (3,), (1,), device))
    observed = {"f.py": by_line([Observation("f.py", 6, "f", values={"c": spec})])} if device else {}
    return list(whole_tensor_checks(load([parse("f.py", text)], observed=observed).view("f.py"), RULE))


def text_of(finding: Finding) -> str:
    assert finding.fix is not None
    return finding.fix.replacements[0].source


@pytest.mark.parametrize("message", ["", ", lambda: 'a'", ", message=lambda: 'a'", ", None"])
def test_the_assert_says_what_the_check_says(message: str) -> None:
    (finding,) = found(f"torch._check_tensor_all(c{message})")
    with pytest.raises(RuntimeError) as expected:
        torch._check_tensor_all(torch.tensor([True, False]), (lambda: "a") if "lambda" in message else None)
    with pytest.raises(RuntimeError) as raised:
        exec(text_of(finding), {"torch": torch, "c": torch.tensor([True, False])})
    assert str(raised.value) == str(expected.value)
    exec(text_of(finding), {"torch": torch, "c": torch.tensor([True, True])})


@pytest.mark.parametrize(
    ("device", "assumed"),
    [
        ("cpu", {"what compiled code does around the error does not matter"}),
        (
            "cuda:0",
            {"the error comes where the check stands", "what compiled code does around the error does not matter"},
        ),
    ],
)
def test_only_on_the_cpu_does_the_error_come_at_once(device: str, assumed: set[str]) -> None:
    (finding,) = found("torch._check_tensor_all(c)", device=device)
    assert {o.claim for o in finding.obligations if o.discharge is Discharge.ASSUMED} == assumed


@pytest.mark.parametrize(
    "line",
    [
        'torch._check_tensor_all(c, lambda: f"{c}")',
        "y = torch._check_tensor_all(c)",
        "torch._check_tensor_all(*[c])",
        "torch._check_tensor_all(**{'cond': c})",
        "torch._check_tensor_all(c, text)",
        "with torch.no_grad(): torch._check_tensor_all(c)",
    ],
)
def test_what_has_no_constant_text_or_is_no_statement_stays(line: str) -> None:
    (finding,) = found(line)
    assert finding.fix is None
    assert finding.advice


def test_a_name_of_its_own_stays() -> None:
    (finding,) = found("check(c)", first=f"import torch\nfrom torch import {CHECK.partition('.')[2]} as check")
    assert finding.fix is None


def test_what_breaks_no_graph_is_not_mentioned() -> None:
    assert not found("torch._check_tensor_all(c)", decorator="@torch.compile(fullgraph=True)")
    assert not found("torch.compiler.is_compiling() or torch._check_tensor_all(c)", decorator="@staticmethod")
    scalars = "import torch\ntorch._dynamo.config.capture_scalar_outputs = True"
    assert not found("torch._check_tensor_all(c)", first=scalars)
