"""What makes a function that computes indices worth leaving out of what is compiled."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods._host_tails import index_findings


def found(body: str) -> int:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = (
        f"import torch\n\n\ndef places(m: torch.Tensor) -> torch.Tensor:\n{lines}\n\n"
        "@torch.compile\ndef f(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:\n    return x[places(m)] * 2\n"
    )
    return len(list(index_findings(load([parse("f.py", text)]).view("f.py"))))


LOOP = """index = torch.nonzero(m)
out = torch.zeros_like(m)
for i in range(3):
    row = index[i]
    if {test}:
        {side}
return out"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (LOOP.format(test="row.sum() == 0", side="out[0] = 1"), 1),  # the branch breaks, and leaves the loop to Python
        (LOOP.format(test="m.ndim == 1", side="out[0] = 1"), 0),
        ("index = torch.nonzero(m)\nreturn index", 0),
        ("out = m + 1\nif m.sum() > 0:\n    out = m * 2\nreturn out[out > 1]", 0),  # the branch becomes a where
        ("out = torch.zeros_like(m)\nif m.sum() > 0:\n    out[0] = 1\nreturn out[out > 1]", 1),
    ],
)
def test_a_branch_on_a_tensor_counts_as_a_break(body: str, expected: int) -> None:
    assert found(body) == expected
