"""Index computation that is left out of what is compiled: which parts of functions can be functions of their own."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.index_computation import RULE
from gbfix.engine.model import Finding, Safety
from gbfix.engine.passes import fix_text


def find(text: str) -> list[Finding]:
    return list(RULE.find(load([parse("m.py", text)]).view("m.py")))


def program(function: str, compiled: str = "@torch.compile(fullgraph=False)") -> str:
    return f"import torch\n\n\n{function}\n\n\n{compiled}\ndef f(g: torch.Tensor):\n    return places(g)\n"


EARLY = """\
def places(g: torch.Tensor, given=None, *more, **rest):
    if given is not None:
        return given
    index: list = []
    for n in g.tolist():
        index.append(torch.arange(n) + len(more))
    rest["n"] = torch.nonzero(g)
    return torch.cat(index), rest"""


def test_what_is_behind_an_early_return_gets_what_it_reads() -> None:
    result = fix_text(program(EARLY), find)

    assert "    return _places_uncompiled(g, more, rest)\n" in result.after
    assert "def _places_uncompiled(g, more, rest):\n    index: list = []\n" in result.after


def test_fullgraph_is_not_known_where_nothing_says_it() -> None:
    (finding,) = find(program(EARLY, "@torch.compile"))

    assert finding.safety is Safety.UNSAFE
    assert not find(program(EARLY, "@torch.compile(fullgraph=True)"))


@pytest.mark.parametrize(
    "function",
    [
        # One break, which would stay.
        "def places(g: torch.Tensor):\n    return torch.nonzero(g)",
        # Worth a graph.
        "def places(g: torch.Tensor):\n    n = g.tolist()\n    return torch.nonzero(g) @ torch.ones(1, len(n))",
        # Names that mean something else in another function.
        "n = 0\n\n\ndef places(g: torch.Tensor):\n    global n\n    n = g.tolist()\n    return torch.nonzero(g), n",
        "def places(g: torch.Tensor):\n    if g is None:\n        return g\n    elif g.dim():\n        k = 1\n"
        "    n = g.tolist()\n    return torch.nonzero(g), n, k",
        "def places(g: torch.Tensor):\n    h = lambda: n\n    if g is None:\n        return g\n    n = g.tolist()\n"
        "    return torch.nonzero(g), h()",
        # Steps.
        "def places(g: torch.Tensor):\n    for n in g.tolist():\n        yield torch.nonzero(g), n",
        # Something that is not known.
        "def places(g: torch.Tensor, other=None):\n    n = g.tolist()\n    return torch.nonzero(g), other(n)",
    ],
)
def test_other_functions_are_left_alone(function: str) -> None:
    assert not fix_text(program(function), find, unsafe=True).changed
