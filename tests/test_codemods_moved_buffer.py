from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.moved_buffer import RULE
from gbfix.engine.model import Finding


def found(line: str, inside: str = "") -> list[Finding]:
    text = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.t = torch.nn.Buffer(torch.ones(2))\n{inside}\n    @torch.compile\n"
        f"    def forward(self, x: torch.Tensor, device, other):\n        {line}\n        return x * self.t\n"
    )
    return list(RULE.find(load([parse("f.py", text)]).view("f.py")))


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("self.t = self.t.to(dtype=x.dtype)", "self.t.dtype != x.dtype"),
        ("self.t = self.t.to(device=device)", "self.t.device != device"),
        ("self.t = self.t.to(dtype=x.dtype, device=device)", "self.t.dtype != x.dtype or self.t.device != device"),
    ],
)
def test_it_is_asked_for_what_it_is_moved_to(line: str, asked: str) -> None:
    (finding,) = found(line)
    assert finding.fix is not None
    assert finding.fix.replacements[0].source == f"if {asked}:\n    {line}"


@pytest.mark.parametrize(
    "line",
    [
        "self.t = self.t.to(device, x.dtype)",
        "self.t = self.t.to(x)",
        "self.t = self.t.to(device=device, copy=True)",
        "self.t = self.t.to(device=other())",
        "other.t = other.t.to(device=device)",
        "self.t = self.t.to(**other)",
    ],
)
def test_anything_else_stays(line: str) -> None:
    (finding,) = found(line)
    assert finding.fix is None


@pytest.mark.parametrize(
    "line",
    [
        "self.t = x.to(device=device)",
        "if self.t.device != device: self.t = self.t.to(device=device)",
    ],
)
def test_what_moves_nothing_of_its_own_or_asks_is_not_mentioned(line: str) -> None:
    assert not found(line)


def test_a_class_that_does_more_stays() -> None:
    (finding,) = found("self.t = self.t.to(device=device)", inside="\n    def __setattr__(self, n, v): pass\n")
    assert finding.fix is None
