from __future__ import annotations

import textwrap

import pytest

from gbfix.analysis.flow import Flow
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.analysis.values import Kind, Value


def parameter(name: str, files: dict[str, str], function: str = "f") -> Value:
    """What a parameter of a function in main.py holds at its first statement."""
    project = load([parse(path, "import torch\n" + textwrap.dedent(text)) for path, text in files.items()])
    view = project.view("main.py")
    found = next(f for f in view.source.functions if f.name == function)
    return Flow(view, found).entry.values[name]


def claims(value: Value) -> set[str]:
    return {assumption.claim for assumption in value.assumed}


def test_a_public_function_may_have_other_callers() -> None:
    value = parameter("x", {"main.py": "def f(x):\n    return x\nf(torch.ones(3))\nf(torch.zeros(2))\n"})
    assert value.kind is Kind.TENSOR
    assert claims(value) == {"every caller passes a tensor for x, as the 2 calls in the given files do"}


def test_a_private_function_has_no_other_callers() -> None:
    value = parameter("x", {"main.py": "def _f(x):\n    return x\n_f(torch.ones(3))\n"}, "_f")
    assert value.kind is Kind.TENSOR
    assert not value.assumed


def test_a_nested_function_has_no_other_callers() -> None:
    text = """
        def outer(y: torch.Tensor):
            def f(x):
                return x
            return f(y * 2) + f(x=y)
    """
    value = parameter("x", {"main.py": text})
    assert value.kind is Kind.TENSOR
    assert not value.assumed


def test_calls_in_other_given_files_count() -> None:
    files = {"main.py": "def f(x):\n    return x\n", "user.py": "from main import f as g\ng(torch.ones(3))\n"}
    assert parameter("x", files).kind is Kind.TENSOR
    assert parameter("x", {**files, "other.py": "import main\nfrom main import f\nf(3)\n"}).kind is Kind.MAYBE


@pytest.mark.parametrize(
    "rest",
    [
        "f(torch.ones(3))\nf(2.0)\n",
        "f(torch.ones(3))\nf(unknown())\n",
        "f(torch.ones(3))\nkeep = f\n",
        "f(*[torch.ones(3)])\n",
        "f(torch.ones(3))\nprint(f)\n",
        "",
    ],
)
def test_what_is_not_certain_is_not_taken(rest: str) -> None:
    assert parameter("x", {"main.py": "def f(x):\n    return x\n" + rest}).kind is Kind.MAYBE


def test_a_recursive_call_does_not_run_forever() -> None:
    text = "def f(x, n: int):\n    return f(x, n - 1) if n else x\nf(torch.ones(3), 2)\n"
    assert parameter("x", {"main.py": text}).kind is Kind.MAYBE


def test_a_missing_argument_leaves_the_default() -> None:
    text = "def f(x, y=None):\n    return x\nf(torch.ones(3))\nf(torch.ones(3), torch.ones(3))\n"
    assert parameter("x", {"main.py": text}).kind is Kind.TENSOR
    assert parameter("y", {"main.py": text}).kind is Kind.MAYBE
