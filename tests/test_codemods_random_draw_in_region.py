"""Helpers that read numbers of NumPy's generator: which are left out of what is compiled."""

from __future__ import annotations

import textwrap

import pytest

from gbfix.analysis.capabilities import KNOWN, Torch
from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.analysis.observed import by_line
from gbfix.analysis.project import FileView, load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Discharge, Finding, Safety
from gbfix.engine.passes import fix_text

RULE = next(rule for rule in all_rules() if rule.code == "GBF321")


def view_of(text: str, torch: Torch = KNOWN) -> FileView:
    return load([parse("program.py", text)], torch=torch).view("program.py")


def program(body: str, signature: str = "size: int", compiling: str = "@torch.compile(fullgraph=False)") -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return (
        "import sys\nimport numpy as np\nimport torch\n\n\n"
        f"def helper({signature}):\n{lines}\n\n\n"
        f"{compiling}\ndef f(x: torch.Tensor):\n    return x * helper(x.shape[0])\n"
    )


def found(text: str) -> Finding:
    (finding,) = RULE.find(view_of(text))
    return finding


@pytest.mark.parametrize(
    "body",
    [
        "return np.random.rand(1).item()",
        "return sum(np.random.randint(0, size, (3,)).tolist())",
        "by = float(np.random.uniform())\nreturn np.arange(size).sum() * by",
        "if size < 1:\n    raise ValueError\ndef twice(n):\n    return n + n\nreturn twice(int(np.random.poisson()))",
    ],
)
def test_a_helper_that_always_reads_a_draw_is_left_out(body: str) -> None:
    assert found(program(body)).safety is Safety.SAFE
    after = fix_text(program(body), lambda text: list(RULE.find(view_of(text)))).after
    assert '@torch.compiler.disable(reason="draws numbers with NumPy")\ndef helper(' in after
    assert list(RULE.find(view_of(after))) == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "if size > 2:\n    return 1.0\nreturn np.random.rand(1).item()",
            "it may return before the draw, or pass it by",
        ),
        ("return size and np.random.rand(1).item()", "it may return before the draw, or pass it by"),
        ("return [np.random.rand(1).item() for _ in range(size)]", "it may return before the draw, or pass it by"),
        (
            "by = np.random.rand(1).item()\nreturn torch.full((size,), by)",
            "torch.full((size,), by) may do more than Python and NumPy",
        ),
        ("by = np.random.rand(1).item()\nreturn unknown(by)", "unknown(by) may do more than Python and NumPy"),
        ("by = np.random.rand(1).item()\nreturn by, sys._getframe()", "_getframe depends on it"),
        ("by = np.random.rand(1).item()\nyield by", "helper goes on in steps"),
    ],
)
def test_a_helper_that_may_be_worth_compiling_stays(body: str, reason: str) -> None:
    assert found(program(body)).obligations[0].reason == reason


def test_what_may_be_a_tensor_is_assumed_to_be_none() -> None:
    finding = found(program("return np.random.rand(1).item() * size", "size"))
    assert [one.claim for one in finding.obligations if one.discharge is Discharge.ASSUMED] == [
        "size is a Python value"
    ]
    reason = found(program("return np.random.rand(1).item() * size", "size: torch.Tensor")).obligations[0].reason
    assert reason == "size may do more than Python and NumPy"


def test_fullgraph_is_asked_for() -> None:
    body = "return np.random.rand(1).item()"
    unknown = found(program(body, compiling="@torch.compile(fullgraph=FULL)"))
    assert [one.claim for one in unknown.obligations if one.discharge is Discharge.ASSUMED] == [
        "no caller compiles with fullgraph=True"
    ]
    assert found(program(body, compiling="@torch.compile(fullgraph=True)")).safety is Safety.REFUSED


def test_a_break_that_a_run_showed_says_that_nobody_asks_for_a_full_graph() -> None:
    text = program("return np.random.rand(1).item()", "size", compiling="").replace("\n\n\n\n", "\n\n\n")
    values = {"size": ValueSpec("int", "int", value="3")}
    seen = [Observation("program.py", 7, "helper", how, values=values) for how in ("traced", "resumed")]
    view = load([parse("program.py", text)], observed={"program.py": by_line(seen)}).view("program.py")
    (finding,) = RULE.find(view)
    assert finding.safety is Safety.SAFE
    assert [one.claim for one in finding.obligations if one.discharge is Discharge.OBSERVED] == [
        "no caller compiles with fullgraph=True"
    ]
    tensor = {"size": ValueSpec("tensor", "torch.Tensor", TensorSpec("int64", (), ()))}
    seen = [Observation("program.py", 7, "helper", how, values=tensor) for how in ("traced", "resumed")]
    view = load([parse("program.py", text.replace("item()", "item() + size"))], observed={"program.py": by_line(seen)})
    (finding,) = RULE.find(view.view("program.py"))
    assert finding.safety is Safety.REFUSED


def test_what_is_compiled_itself_stays() -> None:
    text = program("return np.random.rand(1).item()") + "\n\ng = torch.compile(helper)\n"
    assert found(text).obligations[0].reason == "helper is what is compiled"


def test_a_version_that_captures_the_number_needs_nothing() -> None:
    text = program("return np.random.rand(1).item()")
    assert list(RULE.find(view_of(text, Torch("3.0", lambda _probe: True)))) == []
