"""Tensors made from lists of integers: where the list is read in their place, and where it may not be."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.codemods.listed_values import RULE
from gbfix.engine.model import Discharge, Finding, Safety
from gbfix.engine.passes import fix_text

HEAD = """\
import torch
from torch import nn


{helper}


@torch.compile
def f(x: torch.Tensor, y: torch.Tensor, n: int, others: list[int]):
"""
USED = "for a in t:\n    x = x + x[:a].sum()"


def program(body: str, helper: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.replace("USED", USED).split("\n"))
    return HEAD.format(helper=helper) + lines + "    return x\n"


def findings(text: str) -> list[Finding]:
    return list(RULE.find(load([parse("f.py", text)]).view("f.py")))


def fixed(text: str) -> list[Finding]:
    return [finding for finding in findings(text) if finding.safety is not Safety.REFUSED]


def why(text: str) -> list[str]:
    refused = [one for one in findings(text) if one.safety is Safety.REFUSED]
    return [o.reason for one in refused for o in one.obligations if o.discharge is Discharge.VIOLATED]


@pytest.mark.parametrize(
    "body",
    [
        "s = [y.shape[0], 2]\nt = torch.tensor(s)\nUSED",
        "s = (y.shape[0], y.size(1))\nt = torch.as_tensor(s, dtype=torch.long, device=x.device)\nUSED",
        "s = []\nfor one in (x, y):\n    s.append(one.shape[0])\nt = torch.tensor(s)\nUSED",
        "s = [len(others), int(n), -n + 3]\nt = torch.tensor(s)\nUSED",
        "h, w = y.shape\ns = [h * w, h // 2]\nt = torch.tensor(s)\nk = t.sum() + t.shape[0]\nUSED",
        "s = [1, 2]\nt = torch.tensor(s)\nUSED\ns.append(3)\nx = x + t.sum()",
        "s = [y.shape]\nt = torch.tensor(s)\nfor a, b in t:\n    x = x[:a] + b",
        "s = [[1, 2], [n, 3]]\nt = torch.tensor(s)\nfor a, b in t:\n    x = x[:a] + b",
        "s = [1, n]\nt = torch.tensor(s)\nfor a in t:\n    for _ in range(a // 2 + a % 3):\n        x = x + 1",
        "for _ in range(3):\n    s = [y.shape[0], 2]\n    t = torch.tensor(s)\n    for a in t:\n        x = x[:a]\n    s.append(1)",  # noqa: E501
        "a = 7\ns = [a, 2]\nt = torch.tensor(s)\nUSED",
        "s = [1, 2]\nt = torch.tensor(s)\nUSED\nfor a in others:\n    x = x * a",
    ],
)
def test_loop_goes_through_the_list(body: str) -> None:
    (found,) = fixed(program(body))

    assert found.fix is not None
    assert [one.source for one in found.fix.replacements] == ["s"]


@pytest.mark.parametrize(
    "body",
    [
        "s = [1, 2]\nt = torch.tensor(s)\ns.append(3)\nUSED",
        "s = [1, 2]\nt = torch.tensor(s)\ns[0] = 3\nUSED",
        "s = [1, 2]\nt = torch.tensor(s)\ns += [3]\nUSED",
        "s = [1, 2]\nt = torch.tensor(s)\ndel s[0]\nUSED",
        "s = [1, 2]\nt = torch.tensor(s)\ns = [3]\nUSED",
        "s = [1, 2]\nm = s\nt = torch.tensor(s)\nm.append(3)\nUSED",
        "s = [1, 2]\nt = torch.tensor(s)\nm = [s]\nm[0].append(3)\nUSED",
        "s = [1, 2]\ng = lambda: s.append(3)\nt = torch.tensor(s)\ng()\nUSED",
        "s = [1, 2]\ndef g():\n    s.append(3)\nt = torch.tensor(s)\ng()\nUSED",
        "s = [1, 2]\nt = torch.tensor(s)\n[s.pop() for _ in range(1)]\nUSED",
        "s = [1, 2]\nt = torch.tensor(s)\nfor a in t:\n    x = x + x[:a].sum()\n    s.append(3)",
        "s = [1, 2]\nt = torch.tensor(s)\nfor _ in range(2):\n    for a in t:\n        x = x + x[:a].sum()\n    s.pop()",  # noqa: E501
        "s = [[1, 2]]\nt = torch.tensor(s)\nfor row in s:\n    row[0] = 5\nfor a, b in t:\n    x = x[:a] * b",
        "row = [1, 2]\ns = [row]\nt = torch.tensor(s)\nrow[0] = 5\nfor a, b in t:\n    x = x[:a] * b",
        "s = []\nt = torch.tensor(s)\nUSED",
        "s = [1, 2]\ns.extend(others)\nt = torch.tensor(s)\nUSED",
        "s = [1, *others]\nt = torch.tensor(s)\nUSED",
        "s = [1, others[0]]\nt = torch.tensor(s)\nUSED",
        "s = list(others)\nt = torch.tensor(s)\nUSED",
        "t = torch.tensor(others)\nUSED",
        "for _ in range(2):\n    if n:\n        s = [1, 2]\n    t = torch.tensor(s)\n    USED".replace(
            "USED", "x = x + 1\n"
        )
        + "USED",
    ],
)
def test_list_that_may_be_another_one_is_not_read(body: str) -> None:
    assert fixed(program(body)) == []


@pytest.mark.parametrize(
    "made",
    [
        "s = [1.0, 2.0]\nt = torch.tensor(s, dtype=torch.long)",
        "s = [True, False]\nt = torch.tensor(s)",
        "s = [1, 2]\nt = torch.tensor(s, dtype=torch.uint8)",
        "s = [1, 2]\nt = torch.tensor(s, dtype=torch.int32)",
        "s = [1, 2]\nt = torch.tensor(s, dtype=torch.float32)",
        "s = [1, 2]\nt = torch.tensor(s, dtype=x.dtype)",
        "s = [1, 2]\nt = torch.tensor(s, dtype=torch.float64, requires_grad=True)",
        "s = [1, 2**70]\nt = torch.tensor(s)",
        "s = [x.sum(), 2]\nt = torch.tensor(s)",
        "s = [1, n / 2]\nt = torch.tensor(s)",
        "s = [1, n**2]\nt = torch.tensor(s)",
        "s = [1, 2]\nt = torch.tensor(s)\nt += 1",
        "s = [1, 2]\nt = torch.tensor(s)\nt[0] = 3",
        "s = [1, 2]\nt = torch.tensor(s)\nt.add_(1)",
        "s = [1, 2]\nt = torch.tensor(s)\nv = t[0]\nv += 1",
        "s = [1, 2]\nt = torch.tensor(s)\nv = t.view(2, 1)\nv.add_(1)",
        "s = [1, 2]\nt = torch.tensor(s)\nv = +t\nv[0] = 4",
        "s = [1, 2]\nt = torch.tensor(s)\nfor v in t:\n    v += 1",
        "s = [1, 2]\nt = torch.tensor(s)\ntorch.add(t, 1, out=t)",
        "s = [1, 2]\nt = torch.tensor(s)\ntorch.neg_(t)",
        "s = [1, 2]\nt = torch.tensor(s)\ntorch._foreach_add_([t], 1)",
        "s = [1, 2]\nt = torch.tensor(s)\ng = lambda: t.add_(1)\ng()",
        "s = [1, 2]\nt = torch.tensor(s) if n else x",
        "s = [1, 2]\nif n:\n    t = torch.tensor(s)\nelse:\n    t = y",
    ],
)
def test_tensor_with_other_numbers_stays(made: str) -> None:
    assert fixed(program(f"{made}\nUSED")) == []


@pytest.mark.parametrize(
    "use",
    [
        "x = x[:a] ** a",
        "x = x[:a] // a",
        "x = x[: a // -2]",
        "x = x[: a / 2]",
        "x = x[: a - 0.5]",
        "x = x[: a // n]",
        "x = x[:a] + a.float()",
        "x = x[:a] + torch.sqrt(a)",
        "x = x[:a]\n    print(a)",
        'x = x[:a]\n    m = f"{a}"',
        "x = x[:a]\n    others.append(a)",
        "x = x[:a]\n    d = {a: 1}",
        "x = x[:a]\n    q = y.shape[0] is a",
        "x = x[:a]\n    if a > 1:\n        x = x + 1",
        "x = x[:a]\n    if isinstance(a, int):\n        x = x + 1",
        "x = x[:a]\n    a += 1",
        "x = x[:a]\n    b = a",
        "x = x[:a]\n    x = x * -a",
        "x = x[:a, a]",
        "x = x[:a] + torch.full((2,), 1.0).fill_(a)",
        "x = x[:a]\n    yield a",
        "x = x[:a]\n    return a",
        "x = x[:a]\nx = x * a",
        "k = x\n    k += a\n    x = x[:a] + k",
    ],
)
def test_element_that_tells_a_tensor_from_a_number_stays(use: str) -> None:
    assert fixed(program(f"s = [1, n]\nt = torch.tensor(s)\nfor a in t:\n    {use}")) == []


READS = "def g(x: torch.Tensor, p, q=None):\n    for a in p:\n        x = x + x[:a].sum()\n    return x"


@pytest.mark.parametrize(
    "call", ["g(x, t)", "g(x=x, p=t)", "g(x, p=t, q=1)", "g(torch.sin(x), t)", "g(x, t) + t.sum()"]
)
def test_call_passes_the_list(call: str) -> None:
    (found,) = fixed(program(f"s = [1, 2]\nt = torch.tensor(s)\nx = {call}", READS))

    assert found.safety is Safety.SAFE
    assert found.fix is not None
    assert [one.source for one in found.fix.replacements] == ["s"]


@pytest.mark.parametrize(
    ("helper", "call"),
    [
        (READS, "g(x, *[t])"),
        (READS, "g(x, t + 1)"),
        (READS, "g(x, t[:1])"),
        (READS, "g(x, t, t.add_(1))"),
        (READS.replace("p, q", "p: torch.Tensor, q"), "g(x, t)"),
        (READS.replace("    return", "    p = 1\n    return"), "g(x, t)"),
        (READS.replace("    return x", "    return x, p"), "g(x, t)"),
        (READS.replace("    return", "    x = x + p.sum()\n    return"), "g(x, t)"),
        (READS.replace("    return", "    h = lambda: p\n    return"), "g(x, t)"),
        (READS.replace("    return", "    del p\n    return"), "g(x, t)"),
        (READS.replace("    return", "    yield"), "g(x, t)"),
        (READS.replace("for a in p", "for a in p * 2"), "g(x, t)"),
        (READS.replace("for a in p", "for a, b in p"), "g(x, t)"),
        ("@torch.jit.script\n" + READS, "g(x, t)"),
        (READS + "\n\n\nif torch.cuda.is_available():\n    g = len", "g(x, t)"),
        (READS.replace("x[:a]", "x[: a > 1]"), "g(x, t)"),
    ],
)
def test_call_stays(helper: str, call: str) -> None:
    assert fixed(program(f"s = [1, 2]\nt = torch.tensor(s)\nx = {call}", helper)) == []


MODULES = """\
import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x: torch.Tensor, shapes, sizes):
{inner}


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor, y: torch.Tensor):
        s = [y.shape[0], 2]
        t = torch.tensor(s)
{outer}


model = torch.compile(Outer())
"""
LOOP = "for a in shapes:\n    x = x[:a] + 1.0\nreturn x"


def modules(inner: str, outer: str, more: str = "") -> str:
    indented = ["\n".join(f"        {line}" for line in part.split("\n")) for part in (inner, outer)]
    return MODULES.format(inner=indented[0], outer=indented[1]) + more


def test_parameter_is_read_where_every_call_passes_the_list_as_well() -> None:
    (found,) = fixed(modules(LOOP, "return self.inner(x, t, sizes=s)"))

    assert found.safety is Safety.UNSAFE
    assert found.fix is not None
    assert [one.source for one in found.fix.replacements] == ["sizes"]
    assumed = [one for one in found.obligations if one.discharge is Discharge.ASSUMED]
    assert [one.claim for one in assumed] == ["the tensor is made from the list"]


@pytest.mark.parametrize(
    ("inner", "outer", "more"),
    [
        (LOOP, "return self.inner(x, t, sizes=[1])", ""),
        (LOOP, "return self.inner(x, t * 2, sizes=s)", ""),
        (LOOP, "r = [1]\nreturn self.inner(x, t, sizes=r)", ""),
        (LOOP, "return self.inner(x, t, s) + self.inner(x, t, [3])", ""),
        (LOOP, "s.append(1)\nreturn self.inner(x, t, sizes=s)", ""),
        (LOOP, "t.add_(1)\nreturn self.inner(x, t, sizes=s)", ""),
        ("sizes.append(1)\n" + LOOP, "return self.inner(x, t, sizes=s)", ""),
        ("sizes = [1]\n" + LOOP, "return self.inner(x, t, sizes=s)", ""),
        ("shapes = shapes + 1\n" + LOOP, "return self.inner(x, t, sizes=s)", ""),
        ("shapes += 1\n" + LOOP, "return self.inner(x, t, sizes=s)", ""),
        ("shapes.add_(1)\n" + LOOP, "return self.inner(x, t, sizes=s)", ""),
        ("v = shapes[0]\nv += 1\n" + LOOP, "return self.inner(x, t, sizes=s)", ""),
        (LOOP, "return self.inner(x, t, sizes=s)", "\n\nparts = nn.ModuleList([Inner()])\n"),
        (LOOP, "return self.inner(x, t, sizes=s)", "\n\nclass Other(Inner):\n    pass\n"),
    ],
)
def test_parameter_stays(inner: str, outer: str, more: str) -> None:
    assert fixed(modules(inner, outer, more)) == []


def test_function_that_gets_both_reads_the_list() -> None:
    (found,) = fixed(program("s = [1, 2]\nt = torch.tensor(s)\nx = g(x, t, s)", READS))

    assert found.safety is Safety.UNSAFE
    assert found.function == "g"
    assert found.fix is not None
    assert [one.source for one in found.fix.replacements] == ["q"]


def test_refusals_name_the_line_and_the_reason() -> None:
    changed = program("s = [1, 2]\nt = torch.tensor(s)\ns.append(3)\nUSED")

    assert why(changed) == ["s.append may change s"]
    assert findings(changed)[0].obligations[0].line == 12


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("x = x[: t[0].item()]", "x = x[: s[0]]"),
        ("x = x[: int(t[-1])]", "x = x[: int(s[-1])]"),
        ("x = x * float(t[1])", "x = x * float(s[1])"),
        ("x = torch.split(x, t.tolist())[0]", "x = torch.split(x, s)[0]"),
        ("x = x[: t.tolist()[0]]", "x = x[: s[0]]"),
        ("x = [x[:a] for a in t.tolist()]", "x = [x[:a] for a in s]"),
        ("x = [x[:a] for a, _ in zip(t.tolist(), others)]", "x = [x[:a] for a, _ in zip(s, others)]"),
        ("for i, a in enumerate(t.tolist()):\n    x = x[:a]", "for i, a in enumerate(s):\n        x = x[:a]"),
    ],
)
def test_numbers_are_read_out_of_the_list(body: str, after: str) -> None:
    text = program(f"s = [y.shape[0], 2]\nt = torch.tensor(s)\n{body}")

    def find(current: str) -> list[Finding]:
        view = load([parse("f.py", current)]).view("f.py")
        return [finding for rule in all_rules() for finding in rule.find(view)]

    assert after in fix_text(text, find).after


@pytest.mark.parametrize(
    "body",
    [
        "x = x, t.tolist()",
        "m = t.tolist()\nm.append(1)\nx = x[: m[0]]",
        "x = x[: len(t.tolist()[:1])]",
        "x = x[: t.item()]",
        "x = x[: t[0, 0].item()]",
        "x = x[: t[:1].item()]",
        "x = x[: t[y > 0][0].item()]",
        "x = x[: t[None].item()]",
        "x = x[: t[True].item()]",
        "x = [x[:a].sum() for a, b in t.tolist()]",
    ],
)
def test_other_readings_stay(body: str) -> None:
    assert fixed(program(f"s = [y.shape[0], 2]\nt = torch.tensor(s)\n{body}")) == []


def test_no_rule_calls_tolist_on_the_list() -> None:
    """The loop goes through what is a list now, whatever a run showed of it before."""
    text = program("s = [1, 2]\nt = torch.tensor(s)\nx = g(x, t)", READS.replace("for a", "p = p.long()\n    for a"))
    assert fixed(text) == []
    listed = program("s = [1, 2]\nt = torch.tensor(s)\nx = g(x, t)", READS)

    def find(current: str) -> list[Finding]:
        view = load([parse("f.py", current)]).view("f.py")
        return [finding for rule in all_rules() for finding in rule.find(view)]

    after = fix_text(listed, find, unsafe=True).after
    assert "g(x, s)" in after
    assert "tolist" not in after
