"""Checks that raise from within the graph, in an operator of their own."""

from __future__ import annotations

import textwrap

import pytest

from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.analysis.observed import by_line
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Discharge, Finding, Result, Safety
from gbfix.engine.passes import fix_text

TENSOR = ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", (3,), (1,)))
INDEX = ValueSpec("int", "int", value="1")
NUMBER = ValueSpec("float", "float", value="0.5")


def fixed(
    body: str, signature: str = "x: torch.Tensor", *, above: str = "", decorator: str = "@torch.compile", seen: int = 0
) -> Result:
    """What becomes of a function with these lines, with fixes that assume something. seen: a line that was observed."""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    text = f"import torch\n{above}\n\n{decorator}\ndef f({signature}):\n{lines}\n"
    observed = (
        {
            "f.py": by_line(
                [
                    Observation(
                        "f.py",
                        seen,
                        "f",
                        values={"x": TENSOR, "row": TENSOR, "low": TENSOR, "index": INDEX, "c.n": NUMBER},
                    )
                ]
            )
        }
        if seen
        else {}
    )

    def find(current: str) -> list[Finding]:
        view = load([parse("f.py", current)], observed=observed if current == text else {}).view("f.py")
        return [finding for rule in all_rules() if rule.code in ("GBF109", "GBF110") for finding in rule.find(view)]

    return fix_text(text, find, unsafe=True)


def operator_of(result: Result) -> str:
    return result.after.partition("cudagraph_unsafe,),\n)\n")[2].partition("\n\n\n")[0]


def test_consecutive_checks_become_one_operator_and_stay_as_they_are_without_compilation() -> None:
    result = fixed(
        """
        if not (x >= 0).all():
            raise ValueError(f"below: {x.shape}")
        assert x[0].item() < n, "above"
        return x + torch.rand(3)
    """,
        "x: torch.Tensor, n: int",
    )
    assert operator_of(result) == (
        "def _check_in_f(x: torch.Tensor, n: int) -> None:\n"
        "    if not (x >= 0).all():\n"
        '        raise ValueError(f"below: {x.shape}")\n'
        '    assert x[0].item() < n, "above"'
    )
    assert (
        "    if torch.compiler.is_compiling():\n        _check_in_f(x, n)\n    else:\n        if not (x" in result.after
    )
    assert {finding.safety for finding in result.applied} == {Safety.UNSAFE}


def test_what_is_asked_of_python_decides_whether_the_operator_is_called() -> None:
    result = fixed(
        """
        if y is not None and y.max() >= x.shape[0] and (y.min() < 0 or y.sum() > 3):
            raise ValueError("y")
        return torch.rand_like(x)
    """,
        "x: torch.Tensor, y: torch.Tensor | None = None",
    )
    assert "        if y is not None:\n            _check_in_f(y, x)\n    elif y is not None and" in result.after
    assert "    if y.max() >= x.shape[0] and (y.min() < 0 or y.sum() > 3):\n" in operator_of(result)


def test_a_path_of_unknown_kind_is_computed_with_and_said_outside() -> None:
    result = fixed(
        """
        if x.max() >= c.size.most:
            raise ValueError(f"at most {c.size.most}")
        return torch.rand_like(x)
    """,
        "x: torch.Tensor, c",
    )
    assert '_check_in_f(x.max() >= c.size.most, f"at most {c.size.most}")\n' in result.after
    assert operator_of(result).endswith("    if value:\n        raise ValueError(message)")
    assumed = {o.claim for f in result.applied for o in f.obligations if o.discharge is Discharge.ASSUMED}
    assert "making the message changes nothing" in assumed


def test_a_path_whose_kind_a_run_showed_is_an_argument_also_in_a_text() -> None:
    result = fixed(
        """
        if x.sum() > c.n and x.min() < 0:
            raise ValueError(f"above {c.n:.2f}")
        return torch.rand_like(x)
        """,
        "x, c",
        seen=6,
    )
    assert operator_of(result).startswith("def _check_in_f(x: torch.Tensor, n: float) -> None:\n    if x.sum() > n and")
    assert 'raise ValueError(f"above {n:.2f}")' in operator_of(result)
    assert "        _check_in_f(x, c.n)\n" in result.after


def test_a_check_at_the_end_of_a_function_that_others_call_leaves_their_graph_whole() -> None:
    body = 'y = x + 1\nassert (y > 0).all().item(), "low"\nreturn y'
    assert not fixed(body, seen=0).changed or "_f_graph" in fixed(body).after
    called = fixed(body, decorator="def other(f): return f\n\n\n@other", seen=10)
    assert "_check_in_f(y)" in called.after


@pytest.mark.parametrize(
    "body",
    [
        "try:\n    if x.any():\n        raise ValueError\nexcept ValueError:\n    return x\nreturn torch.rand_like(x)",
        "with torch.no_grad():\n    if x.any():\n        raise ValueError\nreturn torch.rand_like(x)",
        "if x.any():\n    raise ValueError(x)\nreturn torch.rand_like(x)",
        "if x.any() and x.requires_grad:\n    raise ValueError\nreturn torch.rand_like(x)",
        "if (t := x.sum()) > 3:\n    raise ValueError\nreturn torch.rand_like(x) + t",
        "if x.add_(1).any():\n    raise ValueError\nreturn torch.rand_like(x)",
        "y = [x]\nif x.any():\n    y.append(x)\n    raise ValueError(f'{y}')\nreturn torch.rand_like(x)",
        "n = 1\nif x.any():\n    n = n + 1\n    raise ValueError(f'{n}')\nreturn torch.rand_like(x)",
        "if x.any():\n    raise ValueError(f'{unknown(x)} {z}')\nreturn torch.rand_like(x)",
        "if x.any():\n    print(x)\n    raise ValueError\nreturn torch.rand_like(x)",
        "if x.any():\n    raise ValueError(f'{locals()}')\nreturn torch.rand_like(x)",
        "if x.any():\n    raise __Error\nreturn torch.rand_like(x)",
        "if torch.rand(1) > x.sum():\n    raise ValueError\nreturn torch.rand_like(x)",
    ],
)
def test_a_check_that_does_more_or_is_handled_stays(body: str) -> None:
    result = fixed(body, "x: torch.Tensor, z=None")
    assert not result.changed
    assert {finding.safety for finding in result.findings} == {Safety.REFUSED}


def test_a_function_that_turns_gradients_off_keeps_its_check() -> None:
    body = "if x.any():\n    raise ValueError\nreturn torch.rand_like(x)"
    assert not fixed(body, decorator="@torch.compile\n@torch.no_grad()").changed


def test_a_text_with_a_gradient_and_a_transform_in_the_file_are_assumed() -> None:
    body = 'if x.any():\n    raise ValueError(f"{x}")\nreturn torch.rand_like(x)'
    claims = {
        o.claim
        for f in fixed(body, above="from torch.func import vmap\n").applied
        for o in f.obligations
        if o.discharge is Discharge.ASSUMED
    }
    assert claims == {
        "no grad_fn is shown",
        "no transform of torch.func runs it compiled",
        "what compiled code does around the error does not matter",
    }


def test_a_scripted_file_asks_for_that_first() -> None:
    body = 'if x.any():\n    raise ValueError("any")\nreturn torch.rand_like(x)'
    result = fixed(body, above="y = torch.jit.annotate(int, 3)\n")
    assert "    if not torch.jit.is_scripting() and torch.compiler.is_compiling():\n" in result.after


@pytest.mark.parametrize("first", ["import torch  # noqa\n", "import torch; import os\n", "from torch import nn\n"])
def test_an_import_that_shares_its_line_takes_no_definition_below(first: str) -> None:
    text = first + "import torch as th\n@th.compile\ndef f(x: th.Tensor):\n    if x.any():\n        raise ValueError\n"
    text += "    return th.rand_like(x)\n"

    def find(current: str) -> list[Finding]:
        view = load([parse("f.py", current)]).view("f.py")
        return [finding for rule in all_rules() if rule.code == "GBF109" for finding in rule.find(view)]

    after = fix_text(text, find, unsafe=True).after
    assert after == text or after.startswith(first + "import torch as th\n\n\n@")


def test_an_assert_of_false_raises_as_well_also_for_each_round_of_a_loop() -> None:
    body = """
        total = x.sum()
        for index, row in enumerate(x):
            low = row <= 0
            if low.any():
                found: list[float] = row[torch.where(low)[0]].tolist()
                torch._assert(False, f"{found} in row {index}")
            total = total + row.sum() * torch.rand(1)
        return total
    """
    result = fixed(body, above="y = torch.jit.annotate(int, 3)\n", seen=10)
    assert "def _check_in_f(low: torch.Tensor, row: torch.Tensor, index: int) -> None:\n" in result.after
    assert "        elif low.any():\n            found: list[float] = row[" in result.after
    assert not fixed(body.replace("torch._assert(False", "print(False"), seen=10).applied
