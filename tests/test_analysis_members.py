from __future__ import annotations

import ast
import textwrap

import pytest

from gbfix.analysis.members import class_members
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.analysis.values import Kind, Value

HEADER = "import torch\nfrom torch import nn\n"


def members(init: str, rest: str = "", below: str = "") -> dict[str, Value]:
    """The members of a class with the given `__init__`, other code of the class, and code after it."""
    text = "class M(nn.Module):\n    def __init__(self, size):\n" + textwrap.indent(init, " " * 8)
    text += "\n" + textwrap.indent(rest, " " * 4) + "\n" + below + "\n"
    view = load([parse("program.py", HEADER + text)]).view("program.py")
    owner = next(node for node in view.source.tree.body if isinstance(node, ast.ClassDef))
    return class_members(view, owner)


def test_modules_are_known_by_their_class() -> None:
    held = members("self.a = nn.Linear(size, 2)")["a"]
    assert (held.kind, held.class_name) == (Kind.MODULE, "torch.nn.Linear")


@pytest.mark.parametrize("options", ["inplace=True", "True", "**size", "*size", "max_norm=1.0"])
def test_a_module_that_may_write_has_no_known_class(options: str) -> None:
    held = members(f"self.a = nn.ReLU({options})")["a"]
    assert (held.kind, held.class_name) == (Kind.MODULE, None)


def test_parameters_and_buffers_are_tensors() -> None:
    found = members("self.a = nn.Parameter(torch.ones(2))\nself.register_buffer('b', torch.ones(2))")
    assert {name: held.kind for name, held in found.items()} == {"a": Kind.TENSOR, "b": Kind.TENSOR}


def test_a_buffer_that_starts_as_none_is_not_known() -> None:
    assert "b" not in members("self.register_buffer('b', None)")


def test_a_number_may_be_replaced_by_a_tensor_from_outside() -> None:
    assert members("self.a = 0.5")["a"].kind is Kind.MAYBE


@pytest.mark.parametrize(
    ("init", "rest", "below"),
    [
        ("self.a = nn.ReLU()\nself.a = nn.GELU()", "", ""),
        ("if size:\n    self.a = nn.ReLU()", "", ""),
        ("self.a = nn.ReLU()", "def g(self):\n    self.a = None", ""),
        ("self.a = nn.ReLU()", "def g(self):\n    del self.a", ""),
        ("self.a = nn.ReLU()", "", "class N(M):\n    def g(self):\n        self.a = None"),
        ("self.a = nn.ReLU()", "", "class N(M): pass\nclass P(N):\n    def g(self):\n        self.a = None"),
        ("self.register_buffer('a', torch.ones(2))", "def g(self):\n    self.a = None", ""),
        ("size.a = nn.ReLU()", "", ""),
    ],
)
def test_what_is_set_elsewhere_or_only_sometimes_is_not_known(init: str, rest: str, below: str) -> None:
    assert "a" not in members(init, rest, below)


def test_a_class_that_does_not_derive_may_use_the_same_name() -> None:
    assert "a" in members("self.a = nn.ReLU()", "", "class N:\n    def g(self):\n        self.a = None")
