"""Python values that a compiled function is made for: where they are reported, and with which advice."""

from __future__ import annotations

from typing import Any

import pytest
from recompiled import Sizes, recompiles_of

from gbfix.analysis.project import load
from gbfix.analysis.recompiles import Line
from gbfix.analysis.source import parse
from gbfix.codemods.changing_python_value import RULE
from gbfix.engine.model import Finding, Safety

HEAD = "import torch\n\n\n"


def findings(text: str, *rows: Sizes) -> list[Finding]:
    source = parse("program.py", HEAD + text)
    found = list(RULE.find(load([source], recompiles=recompiles_of(source, *rows)).view("program.py")))
    assert all(finding.safety is Safety.REFUSED and finding.advice for finding in found)
    return found


def row(calls: list[dict[str, Any]], function: str = "f", **others: Any) -> Sizes:
    given = {"kind": "value", "count": len(calls) - 1, "values": tuple(repr(v) for c in calls for v in c.values())}
    return Sizes(function, calls, others={**given, **others})


@pytest.mark.parametrize(
    ("body", "name", "values", "word"),
    [
        pytest.param("for i in range(n):\n        x = x + i\n    return x", "n", [1, 2, 3], "unrolled", id="range"),
        pytest.param("return x.view(n, -1)", "n", [1, 2, 3], "decides about sizes", id="size"),
        pytest.param("return x if n > 2 else x * 2", "n", [1.5, 2.5], "decision about n", id="comparison"),
        pytest.param("return x * len(n)", "n", ["a", "ab"], "each text is compiled", id="text"),
    ],
)
def test_arguments(body: str, name: str, values: list[Any], word: str) -> None:
    text = f"@torch.compile\ndef f(x, n):\n    {body}\n"
    (finding,) = findings(text, row([{name: value} for value in values], source_name=name))
    assert word in finding.advice
    told = ", ".join(map(repr, values))
    assert finding.obligations[0].reason == f"n was {told}: compiled {len(values)} times"


def test_what_the_kinds_say() -> None:
    text = "class Net(torch.nn.Module):\n    @torch.compile\n    def forward(self, x):\n        return x * self.a\n"
    for kind, word in [("value", "as an argument"), ("length", "grows inside"), ("identity", "one object")]:
        (finding,) = findings(text, row([{}, {}], "Net.forward", kind=kind, source_name="self.a"))
        assert word in finding.advice
        assert finding.span.line == HEAD.count("\n") + 4


def test_a_helper_that_reads_the_value_is_where_it_is_reported() -> None:
    text = "def g(x, n):\n    return x.view(n)\n\n\n@torch.compile\ndef f(x, n):\n    return g(x, n)\n"
    source = parse("program.py", HEAD + text)

    (finding,) = findings(text, row([{}, {}, {}], source_name="n", owner=Line(source.path, 5)))
    assert finding.span.line == 5


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param(row([{"n": True}, {"n": False}], source_name="n"), id="a flag"),
        pytest.param(row([{"n": 2}, {"n": 3}, {"n": 4}], source_name="n", count=1), id="a number that is free by now"),
        pytest.param(row([{}, {}], source_name="n", kind="global_state"), id="grad mode"),
        pytest.param(row([{}, {}], source_name="n", kind="dtype"), id="dtype"),
        pytest.param(row([{}, {}], source_name="y"), id="left by a break"),
        pytest.param(row([{}, {}], source_name="___stack0"), id="on the stack at a break"),
    ],
)
def test_what_needs_nothing(sizes: Sizes) -> None:
    assert not findings("@torch.compile\ndef f(x, n):\n    y = x.sum().item()\n    return x * n * y\n", sizes)


def test_a_counter_has_its_own_rule() -> None:
    text = (
        "class Net(torch.nn.Module):\n    @torch.compile\n    def forward(self, x):\n"
        "        self.a += 1\n        return x * self.a\n"
    )
    assert not findings(text, row([{}, {}], "Net.forward", source_name="self.a"))


def test_a_global_that_is_stepped_needs_no_run() -> None:
    step = "def step():\n    global n\n    n += 1\n\n\n"
    read = "@torch.compile\ndef f(x):\n    return x * n\n"
    (finding,) = findings("n = 0\n\n\n" + step + read)
    assert finding.obligations[0].reason == "step gives n another value, and each value is compiled"
    assert not findings("n = torch.ones(2)\n\n\n" + step + read)
    assert not findings("n = 0\n\n\n" + step.replace("    global n\n", "    n = 0\n") + read)
    assert not findings("n = 0\n\n\n" + step + read.replace("(x)", "(x, n)"))
