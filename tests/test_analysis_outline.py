import ast

import pytest

from gbfix.analysis.names import Names
from gbfix.analysis.outline import Outline
from gbfix.analysis.source import parse


def outline_of(text: str) -> Outline:
    return Outline(Names(parse("case.py", text)))


def test_actions_belong_to_the_function_that_does_them() -> None:
    outline = outline_of("a()\ndef f(x=b()):\n  c()\n  g = lambda: d()\n  return [e() for _ in h()]\n")
    functions = {f.qualname: f.node for f in outline.names.source.functions}
    calls = {
        name: [ast.unparse(call.func) for call in outline.actions_of(holder).calls]
        for name, holder in {"": outline.names.source.tree, **functions}.items()
    }
    assert calls == {"": ["a", "b"], "f": ["c", "e", "h"], "f.<locals>.<lambda>": ["d"]}


@pytest.mark.parametrize(
    ("statement", "attribute"),
    [
        ("self.a = v", "a"),
        ("self.a: int = v", "a"),
        ("self.a += v", "a"),
        ("self.a[0] = v", "a"),
        ("self.a.append(v)", "a"),
        ("self.a, b = v, 1", "a"),
        ("for self.a in v: pass", "a"),
        ("with v as self.a: pass", "a"),
        ("setattr(self, 'a', v)", "a"),
        ("self.add_module('a', v)", "a"),
        ("self.add_module(n, v)", "*"),
    ],
)
def test_stores_to_self(statement: str, attribute: str) -> None:
    outline = outline_of(f"class A:\n  def f(self, v, n):\n    {statement}\n")
    stores = outline.stores[(outline.classes[0], attribute)]
    assert "v" in [ast.unparse(store.value) for store in stores if store.value is not None]


@pytest.mark.parametrize(
    "text", ["def f(self, v): self.a = v", "class A:\n  def f(self, v):\n    self = v\n    self.a = v"]
)
def test_stores_to_something_else(text: str) -> None:
    assert outline_of(text).stores == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch\ntorch.compile", True),
        ("from torch import compile as c", True),
        ("from torch import *", True),
        ("model.compile()", True),
        ("getattr(torch, 'compile')", True),
        ("import re\nre.compile('x')", False),
        ("x = 'compile'", False),
    ],
)
def test_mentions_compile(text: str, expected: bool) -> None:
    assert outline_of(text).mentions_compile is expected


def test_unpacking_matches_displayed_tuples() -> None:
    outline = outline_of("a, (b, c) = x, (y, z)\nd, *e = v\n")
    found = {target.id: [ast.unparse(value) for value, _ in values] for target, values in outline.assigned.items()}
    assert found == {"a": ["x"], "b": ["y"], "c": ["z"], "d": ["v"], "e": ["v"]}
