"""Loops over a tensor of integers whose elements are sizes, bounds and steps."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods._rows_of_numbers import row_findings
from gbfix.engine.model import Finding

HEAD = "    s = torch.tensor([(1, 2)], dtype=torch.int64)\n    r = torch.tensor([1, 2], dtype=torch.int64)\n"


def findings(body: str) -> list[Finding]:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = f"import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, t: torch.Tensor, n: int):\n{HEAD}{lines}"
    return list(row_findings(load([parse("f.py", text)]).view("f.py")))


def new_source(body: str) -> list[str]:
    return [one.fix.replacements[0].source for one in findings(body) if one.fix is not None]


@pytest.mark.parametrize(
    "body",
    [
        "for a, b in s:\n    x = x.view(a, b)\nreturn x",
        "for a in r:\n    x = x[:a]\nreturn x",
        "for i, a in enumerate(r):\n    x = x * torch.zeros((a, 2)).sum()\nreturn x",
        "for a in r:\n    for _ in range(a + 1):\n        x = x + a\nreturn x",
        "k = 0\nfor a, b in s:\n    x = x + x[k : k + a * b].sum()\n    k += a * b\nreturn x, x[k:]",
    ],
)
def test_elements_that_python_needs_are_read_at_once(body: str) -> None:
    assert len(new_source(body)) == 1
    assert new_source(body)[0] in ("s.tolist()", "r.tolist()")


@pytest.mark.parametrize(
    "body",
    [
        "for a, b in s:\n    x = x * a + b\nreturn x",  # nothing is read
        "for a in r:\n    x = x[:a]\nreturn x, a",
        "k = 0\nfor a in r:\n    x = x[:k]\n    k += a\nreturn x, k",
        "for a in r:\n    x = x[:a]\n    a = 2\nreturn x",
        "for a in r:\n    x = x[:a] + n.g(a)\nreturn x",
        "for a in r:\n    x = x[:a] // a\nreturn x",
        "for a in r:\n    x = x[: a / 2]\nreturn x",
        "for a in r:\n    x = x[:a] + torch.linspace(0, a, 3)\nreturn x",
        "for a in r:\n    g = lambda: x[:a]\n    x = g()\nreturn x",
        "for a in r:\n    r[0] = 2\n    x = x[:a]\nreturn x",
        "for a, *b in s:\n    x = x[:a]\nreturn x",
        "for a in t:\n    x = x[:a]\nreturn x",  # may hold other numbers
        "for a in n:\n    x = x[:a]\nreturn x",
    ],
)
def test_other_loops_stay(body: str) -> None:
    assert new_source(body) == []


def test_a_use_as_a_tensor_is_the_reason() -> None:
    (found,) = findings("for a in r:\n    x = x[:a]\n    x = x + g(a)\nreturn x")
    assert found.fix is None
    assert found.obligations[0].reason == "g(a) uses one for something else"
