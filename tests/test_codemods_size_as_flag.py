from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.size_as_flag import RULE
from gbfix.engine.model import Finding, Safety


def found(flag: str, above: str = "", name: str = "is_causal") -> list[Finding]:
    text = (
        "import torch\n\n\n@torch.compile\ndef f(q: torch.Tensor, mask=None, flag=None):\n"
        f"    n = q.shape[1]\n{above}"
        f"    return torch.nn.functional.scaled_dot_product_attention(q, q, q, {name}={flag})\n"
    )
    return list(RULE.find(load([parse("f.py", text)]).view("f.py")))


@pytest.mark.parametrize(
    "flag", ["True", "flag", "mask is None", "mask is None and flag", "'a' in flag", "int(n)", "n > 1 and mask is None"]
)
def test_what_no_size_decides_stays(flag: str) -> None:
    assert not found(flag)


def test_another_argument_stays() -> None:
    assert not found("n > 1", name="scale")


def test_what_may_be_no_bool_is_assumed() -> None:
    (finding,) = found("causal", above="    causal = n > 1 and flag\n")
    assert finding.safety is Safety.UNSAFE
    assert [o.claim for o in finding.obligations] == ["causal is True or False"]


@pytest.mark.parametrize("flag", ["n > 1", "mask is None and n > 1", "(n > 1) or (n < 5)"])
def test_a_comparison_is_a_bool(flag: str) -> None:
    (finding,) = found(flag)
    assert finding.safety is Safety.SAFE
