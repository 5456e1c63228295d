"""torch.compile that is run again and again: moved to the module's own block, or left with advice."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.compile_per_call import RULE
from gbfix.engine.model import Finding, Result, Safety
from gbfix.engine.passes import fix_text

HEAD = """\
import torch


def scaled(x):
    return x * 2.0


"""


def fixed(text: str, extra: str = "") -> Result:
    files = [parse("program.py", text), *([parse("other.py", extra)] if extra else [])]
    project = load(files)

    def find(current: str) -> list[Finding]:
        return list(RULE.find(project.with_file(parse("program.py", current)).view("program.py")))

    return fix_text(text, find)


def test_all_forms_share_a_compilation_and_options_tell_them_apart() -> None:
    before = (
        HEAD
        + """\
class Server:
    def serve(self, x):
        return torch.compile(scaled)(x) + torch.compile(
            scaled, dynamic=True
        )(x)


def f(x):
    results = [torch.compile(scaled)(x) for _ in range(2)]
    for _ in range(2):
        compiled = torch.compile(scaled)
        results.append(compiled(x))
    # until there are enough
    while len(results) < 6:
        results.append(torch.compile(scaled, backend="eager")(results[-1]))
    kept = torch.compile(scaled)
    return results, Server().serve(x), kept(x)
"""
    )
    assert (
        fixed(before).after
        == HEAD
        + """\
_compiled_scaled_3 = torch.compile(scaled, dynamic=True)


_compiled_scaled_2 = torch.compile(scaled, backend="eager")


_compiled_scaled = torch.compile(scaled)


class Server:
    def serve(self, x):
        return _compiled_scaled(x) + _compiled_scaled_3(x)


def f(x):
    results = [_compiled_scaled(x) for _ in range(2)]
    for _ in range(2):
        compiled = _compiled_scaled
        results.append(compiled(x))
    # until there are enough
    while len(results) < 6:
        results.append(_compiled_scaled_2(results[-1]))
    kept = torch.compile(scaled)
    return results, Server().serve(x), kept(x)
"""
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            "def f(x, scaled):\n    return torch.compile(scaled)(x)\n", "scaled is not the name", id="a parameter"
        ),
        pytest.param(
            "def f(x):\n    return torch.compile(late)(x)\n\n\ndef late(x):\n    return x\n",
            "late is not defined above",
            id="below",
        ),
        pytest.param("def f(x):\n    return torch.compile(scaled, mode='no')(x)\n", "mode may be", id="an option"),
        pytest.param("def f(x, o):\n    return torch.compile(scaled, **o)(x)\n", "** may be", id="unpacked options"),
        pytest.param(
            "def set():\n    global scaled\n    scaled = abs\n\n\ndef f(x):\n    return torch.compile(scaled)(x)\n",
            "scaled is not the name",
            id="set elsewhere",
        ),
        pytest.param(
            "def f(x):\n    scaled.limit = 3\n    return torch.compile(scaled)(x)\n",
            "program.py:9 sets it",
            id="marked",
        ),
        pytest.param(
            "def f(x):\n    import torch\n    return torch.compile(scaled)(x)\n",
            "torch is not defined above",
            id="an import within",
        ),
        pytest.param(
            "@torch.compile\ndef f(x):\n    return torch.compile(scaled)(x)\n", "in compiled code", id="compiled"
        ),
        pytest.param(
            "def f(x):\n    print(globals())\n    return torch.compile(scaled)(x)\n",
            "globals may show the new name",
            id="names are read",
        ),
        pytest.param(
            "def f(x):\n    def inner(y):\n        return y\n    return torch.compile(inner)(x)\n",
            "inner is not defined above",
            id="made anew",
        ),
    ],
)
def test_what_is_left(text: str, reason: str) -> None:
    result = fixed(HEAD + text)
    (finding,) = result.findings
    assert not result.changed
    assert finding.safety is Safety.REFUSED
    assert finding.advice
    assert reason in finding.obligations[0].reason


def test_a_function_that_another_file_replaces() -> None:
    text = HEAD + "def f(x):\n    return torch.compile(scaled)(x)\n"
    assert fixed(text).changed
    assert not fixed(text, "import program\n\nprogram.scaled = abs\n").changed


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("y = torch.compile(scaled)(torch.ones(2))\n", id="once at module level"),
        pytest.param("def f(x, y=torch.compile(scaled)(torch.ones(2))):\n    return x\n", id="a default"),
        pytest.param("for y in torch.compile(scaled)(torch.ones(2)):\n    print(y)\n", id="what a loop goes through"),
        pytest.param("z = [y for y in torch.compile(scaled)(torch.ones(2))]\n", id="what a comprehension goes through"),
        pytest.param("for y in (1, 2):\n    g = torch.compile(scaled)\ng(y)\n", id="called behind the loop"),
        pytest.param("k = []\nfor y in (1, 2):\n    g = torch.compile(scaled)\n    k.append(g)\n", id="kept"),
    ],
)
def test_what_runs_once(text: str) -> None:
    assert not fixed(HEAD + text).findings
