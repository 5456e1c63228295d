from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gbfix.analysis.capabilities import KNOWN, Torch
from gbfix.analysis.preferences import Preferences
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Discharge, Finding, Result, Safety
from gbfix.engine.passes import fix_text

CHECKS = ("GBF109", "GBF110")
WITHOUT_OPERATORS = Torch("2.9.0", lambda probe: probe != "operator that raises" and KNOWN.captures(probe))
"""What stays in its function with it becomes an operator with others, see test_codemods_guard_operators."""


def fixed(body: str, signature: str = "x: torch.Tensor", preferences: Preferences | None = None) -> Result:
    """What becomes of a compiled function with these lines, with fixes that assume something."""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    text = f"import torch\n\n\n@torch.compile\ndef f({signature}):\n{lines}\n"

    def find(current: str) -> list[Finding]:
        project = load([parse("f.py", current)], preferences=preferences or Preferences(), torch=WITHOUT_OPERATORS)
        view = project.view("f.py")
        return [finding for rule in all_rules() if rule.code in CHECKS for finding in rule.find(view)]

    return fix_text(text, find, unsafe=True)


def wrapper_of(result: Result) -> str:
    """The lines of the function that calls the traced part."""
    assert "\n\n\ndef f(" in result.after
    return result.after.partition("\n\n\ndef f(")[2]


def refusals(result: Result) -> list[str]:
    return [o.reason for f in result.findings if f.safety is Safety.REFUSED for o in f.obligations]


def test_a_number_that_only_a_check_reads_goes_with_it() -> None:
    result = fixed("""
        total = x.sum().item()
        if total > 3:
            raise ValueError(f"{total:.2f}")
        return x.cos()
    """)
    assert "    total = value.item()\n    if total > 3:\n" in wrapper_of(result)
    assert ".item()" not in result.after.partition("\n\n\ndef f(")[0]


def test_a_number_that_is_used_elsewhere_keeps_its_check() -> None:
    result = fixed("""
        total = x.sum().item()
        if total > 3:
            raise ValueError("above")
        return x * total
    """)
    assert not result.changed
    assert refusals(result) == ["total is read out of a tensor, and used elsewhere"]


def test_a_value_that_is_written_later_is_cloned_for_the_message() -> None:
    result = fixed("""
        y = x + 1.0
        if y[0]:
            raise ValueError(f"{y}")
        y.mul_(2.0)
        return y
    """)
    assert "y_before = y.clone()" in result.after


@pytest.mark.parametrize("parameters", ["x: torch.Tensor, /, a=1.0, *rest, b: float = 2.0, **more"])
def test_every_sort_of_parameter_is_passed_on(parameters: str) -> None:
    result = fixed('if (x > 2).any():\n    raise ValueError(f"{a}{more}")\nreturn x + 1.0', parameters)
    assert "def _f_graph(x: torch.Tensor, /, a, *rest, b: float, **more):" in result.after
    assert "_f_graph(x, a, *rest, b=b, **more)" in wrapper_of(result)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("names = [1]\nif x.any():\n    raise ValueError(f'{names}')\nnames.append(2)\nreturn x.sin()", "names may be"),
        ("if x.any():\n    raise ValueError\nprint('past')\nreturn x.sin()", "print says something"),
        (
            "if x.any():\n    raise ValueError\nassert x.dim() == 1\nreturn x.sin()",
            "assert x.dim() == 1 may come first",
        ),
        ("if x.any():\n    raise ValueError\nreturn f(x.sin())", "f may raise first"),
        ("if x.any():\n    raise ValueError\nreturn torch.rand_like(x)", "torch.rand_like(x)"),
        (
            "if x.any():\n    raise ValueError\nreturn x.sum() / (x.numel() - 2), 1 // x.numel()",
            "the check may protect",
        ),
        ("for row in x:\n    if row.any():\n        raise ValueError\nreturn x.sin()", "it stands inside a `for`"),
        ("if x.any():\n    raise ValueError\nyield x.sin()", "the function is a generator"),
    ],
)
def test_stays_where_it_is(body: str, reason: str) -> None:
    result = fixed(body)
    assert not result.changed
    assert any(found.startswith(reason) for found in refusals(result))


@pytest.mark.parametrize(
    "body",
    [
        "if x.dim() > 2:\n    raise ValueError\nreturn x.sin()",
        "if x is None:\n    raise ValueError\nreturn x.sin()",
        "assert x.dim() == 1, f'{x.shape}'\nreturn x.sin()",
        "assert (x > 0).all(), 'constant'\nreturn x.sin()",
        "if 'key' not in batch:\n    raise KeyError\nreturn x.sin()",
    ],
)
def test_what_breaks_no_graph_is_not_mentioned(body: str) -> None:
    assert fixed(body, "x: torch.Tensor, batch=None").findings == ()


def test_comparing_whole_tensors_is_never_safe_since_it_may_protect_shapes() -> None:
    result = fixed("if not torch.equal(x, y):\n    raise ValueError\nreturn x + y", "x: torch.Tensor, y: torch.Tensor")
    assert {o.discharge for f in result.applied for o in f.obligations} >= {Discharge.ASSUMED}


def test_an_assert_in_the_graph_comes_only_when_asked_for() -> None:
    body = 'if not (x > 0).all():\n    raise ValueError("low")\nx += 1\nreturn x'
    assert not fixed(body).changed
    asked = fixed(body, preferences=Preferences(in_graph_asserts=True))
    assert '    torch._assert_async((x > 0).all(), "low")\n' in asked.after
    assert asked.applied[0].safety is Safety.UNSAFE


def test_the_option_reaches_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gbfix.cli.choices import settings_with

    monkeypatch.chdir(tmp_path)
    assert settings_with(None, None, None, assume_compiled=False, in_graph_asserts=True).in_graph_asserts
    (tmp_path / "pyproject.toml").write_text("[tool.gbfix]\nin-graph-asserts = true\n")
    assert settings_with(None, None, None, assume_compiled=False).in_graph_asserts


@pytest.mark.parametrize(
    "body",
    [
        'if (i > 4).any():\n    raise ValueError("i")\nif x[i].sum() > 3:\n    raise ValueError("x")\nreturn x.sin()',
        'y = x.clone()\nif (i > 4).any():\n    raise ValueError("i")\ny[i] = 1.0\nreturn y',
        'y = x * 2\nif (i > 4).any():\n    raise ValueError("i")\ny += i\nreturn y',
    ],
    ids=["the test of a later check", "the place that is assigned to", "a sum in place"],
)
def test_what_may_fail_before_the_moved_check_is_never_taken_for_safe(body: str) -> None:
    result = fixed(body, "x: torch.Tensor, i: torch.Tensor")
    moved = [finding for finding in result.applied if "i > 4" in finding.message]
    assert all(finding.safety is Safety.UNSAFE for finding in moved)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            'n = 1\nif x.sum() > 3:\n    n = n + 1\n    raise ValueError(f"{n}")\nreturn x.sin()',
            "it reads n, and gives it another value",
        ),
        (
            "show = lambda: str(x.tolist())\nif x.sum() > 3:\n    raise ValueError(show())\nx = x + 1\nreturn x",
            "a function defined here reads x, which changes",
        ),
    ],
)
def test_a_check_that_would_say_something_else_stays(body: str, reason: str) -> None:
    result = fixed(body)
    assert not result.changed
    assert reason in refusals(result)


def test_a_deleted_element_is_a_trace_that_lasts() -> None:
    result = fixed('if x.sum() > 3:\n    raise ValueError\ndel d["k"]\nreturn x.sin()', "x: torch.Tensor, d: dict")
    assert not result.changed
    assert refusals(result) == ['d["k"] is deleted']


def test_functions_of_one_name_get_traced_parts_of_different_names() -> None:
    function = (
        "@torch.compile\ndef f(x: torch.Tensor):\n    if x.sum() > 3:\n        raise ValueError\n    return x.sin()\n"
    )
    text = f"import torch\n\n{function}\ng = f\n\n{function}"

    def find(current: str) -> list[Finding]:
        view = load([parse("f.py", current)]).view("f.py")
        return [finding for rule in all_rules() if rule.code in CHECKS for finding in rule.find(view)]

    after = fix_text(text, find).after
    assert "def _f_graph(" in after
    assert "def _f_graph_2(" in after
