import ast
import sys

import pytest

from gbfix.analysis.names import Names
from gbfix.analysis.source import parse


def names_of(text: str) -> Names:
    return Names(parse("case.py", text))


def marked(names: Names, spelling: str, occurrence: int = -1) -> ast.expr:
    """The expression with this exact spelling; the last one in the file unless told otherwise."""
    found = [n for n in ast.walk(names.source.tree) if isinstance(n, ast.expr) and ast.unparse(n) == spelling]
    found.sort(key=lambda n: (n.lineno, n.col_offset))
    return found[occurrence]


def qualified(text: str, spelling: str) -> str | None:
    names = names_of(text)
    return names.qualified(marked(names, spelling))


@pytest.mark.parametrize(
    ("imports", "spelling", "expected"),
    [
        ("import torch", "torch.compile", "torch.compile"),
        ("import torch as th", "th.compile", "torch.compile"),
        ("from torch import compile", "compile", "torch.compile"),
        ("from torch import compile as tc", "tc", "torch.compile"),
        ("import torch.nn", "torch.where", "torch.where"),
        ("import torch.nn as nn", "nn.Linear", "torch.nn.Linear"),
        ("from torch import nn", "nn.functional.relu", "torch.nn.functional.relu"),
        ("from . import helpers", "helpers.f", ".helpers.f"),
        ("from ..a.b import f", "f", "..a.b.f"),
        ("import torch\nimport torch", "torch.sin", "torch.sin"),
        ("import torch\nimport torch.nn.functional as F", "torch.sin", "torch.sin"),
        ("import torch\ncompile = torch.compile", "compile", "torch.compile"),
        ("import torch\nnn = torch.nn\nF = nn.functional", "F.relu", "torch.nn.functional.relu"),
        ("import torch\nif flag: g = torch.sin\nelse: g = torch.cos", "g", None),
        ("a = b\nb = a", "a", None),
        ("torch = object()", "torch.sin", None),
        ("import torch\ntorch = object()", "torch.sin", None),
        ("import torch\nfor torch in []: pass", "torch.sin", None),
        ("import torch\nimport numpy as torch", "torch.sin", None),
        ("import torch\ndel torch", "torch.sin", None),
        ("import torch\n(torch := 1)", "torch.sin", None),
        ("import torch\nwith open('f') as torch: pass", "torch.sin", None),
        ("import torch\ntry: pass\nexcept E as torch: pass", "torch.sin", None),
        ("import torch\nmatch 1:\n  case torch: pass", "torch.sin", None),
        ("import torch\nmatch 1:\n  case [*torch]: pass", "torch.sin", None),
        ("import torch\nmatch 1:\n  case {**torch}: pass", "torch.sin", None),
        ("import torch\ndef torch(): pass", "torch.sin", None),
        ("import torch\nclass torch: pass", "torch.sin", None),
        ("import torch\ndef f():\n  global torch\n  torch = 1", "torch.sin", None),
        ("try:\n  import torch\nexcept ImportError:\n  torch = None", "torch.sin", "torch.sin"),
        ("try:\n  import torch\nexcept ModuleNotFoundError:\n  torch = None", "torch.sin", "torch.sin"),
        ("if ok():\n  import torch\nelse:\n  torch = None", "torch.sin", "torch.sin"),
        ("try:\n  import torch\nexcept ImportError:\n  import fake as torch", "torch.sin", None),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import torch", "torch.sin", "torch.sin"),
        ("from torch import *", "sin", "torch.sin"),
        ("from torch.nn import *", "Linear", "torch.nn.Linear"),
        ("from torch.nn import *\nfrom mine import *", "Linear", None),
        ("from torch import *", "sum", "torch.sum"),
        ("from torch import *", "print", None),
        ("from .layers import *", "Block", ".layers.Block"),
        ("from . import *", "Block", ".Block"),
        ("from torch import *\ndef sin(x): pass", "sin", None),
    ],
)
def test_qualified_name_at_module_level(imports: str, spelling: str, expected: str | None) -> None:
    assert qualified(f"{imports}\n{spelling}\n", spelling) == expected


def test_nn_and_functional_beside_torch() -> None:
    text = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    for spelling, expected in [
        ("nn.Linear", "torch.nn.Linear"),
        ("F.relu", "torch.nn.functional.relu"),
        ("torch.nn.functional.relu", "torch.nn.functional.relu"),
    ]:
        assert qualified(text + spelling, spelling) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch\ndef f(torch): return torch.sin", None),
        ("import torch\ndef f(*torch): return torch.sin", None),
        ("import torch\ndef f(**torch): return torch.sin", None),
        ("import torch\ndef f(torch, /): return torch.sin", None),
        ("import torch\ndef f(*, torch=None): return torch.sin", None),
        ("import torch\nf = lambda torch: torch.sin", None),
        ("import torch\ndef f():\n  torch = 1\n  return torch.sin", None),
        ("import torch\ndef f():\n  def g(): return torch.sin\n  torch = 1", None),
        ("import torch\ndef f():\n  for torch in []: pass\n  return torch.sin", None),
        ("import torch\ndef f(): return [torch.sin for torch in []]", None),
        ("import torch\ndef f(): return [1 for torch in []], torch.sin", "torch.sin"),
        ("import torch\ndef f(): return [(torch := x) for x in []], torch.sin", None),
        ("import torch\ndef f(): return [torch.sin for x in []]", "torch.sin"),
        ("import torch\nclass A:\n  torch = 1\n  def f(self): return torch.sin", "torch.sin"),
        ("import torch\nclass A:\n  torch = 1\n  y = torch.sin", None),
        ("import torch\nclass A:\n  torch = 1\n  y = [torch.sin for _ in range(3)]", "torch.sin"),
        ("import torch\nclass A:\n  torch = 1\n  y = [_ for _ in torch.sin]", None),
        ("import torch\nclass A:\n  torch = 1\n  def f(self, x=torch.sin): pass", None),
        ("import torch\nclass A:\n  torch = 1\n  @torch.sin\n  def f(self): pass", None),
        ("import torch\nclass A:\n  torch = 1\n  def f(self, x: torch.sin): pass", None),
        ("import torch\nclass A:\n  import other as torch\n  def f(self): return torch.sin", "torch.sin"),
        ("import torch\n@torch.sin\ndef f(torch): pass", "torch.sin"),
        ("import torch\ndef f(torch, y=torch.sin): pass", "torch.sin"),
        ("import torch\nf = lambda torch, y=torch.sin: 0", "torch.sin"),
        ("import torch\ndef f(torch) -> torch.sin: pass", "torch.sin"),
        ("import torch\nclass A(torch.sin):\n  torch = 1", "torch.sin"),
        ("def f():\n  import torch\n  return torch.sin", "torch.sin"),
        ("def f():\n  import torch\ndef g(): return torch.sin", None),
        ("def f():\n  import torch\n  def g(): return torch.sin", "torch.sin"),
        ("import torch\ndef f():\n  torch = 1\n  def g():\n    global torch\n    return torch.sin", "torch.sin"),
        ("import torch\ndef f():\n  global torch\n  def g(): return torch.sin", "torch.sin"),
        ("def f():\n  import torch\n  def g():\n    nonlocal torch\n    torch = 1\n  return torch.sin", None),
        ("import torch\ndef f():\n  try: pass\n  except E as torch: pass\n  return torch.sin", None),
        ("import torch\ndef f(v):\n  match v:\n    case {'a': torch}: return torch.sin", None),
        ("import torch\ndef f(v):\n  torch: int\n  return torch.sin", None),
    ],
)
def test_torch_sin_is_asked_of_its_binding(text: str, expected: str | None) -> None:
    assert qualified(text, "torch.sin") == expected


def test_nonlocal_chain_binds_the_outermost_function() -> None:
    text = "def f():\n  x = 1\n  def g():\n    nonlocal x\n    def h():\n      nonlocal x\n      x = 2\n"
    names = names_of(text)
    outer, *inner = [node for node in ast.walk(names.source.tree) if isinstance(node, ast.FunctionDef)]
    assert len(names.local_bindings(outer)["x"]) == 2
    assert all("x" not in names.local_bindings(function) for function in inner)
    assert all(names.declared_outer(function) == {"x": "nonlocal"} for function in inner)


def test_scope_of_a_comprehension_and_its_first_iterable() -> None:
    names = names_of("def f(a, b): return [x for x in a for y in b]\n")
    function, comprehension = names.source.functions[0].node, marked(names, "[x for x in a for y in b]")
    assert names.scope_of(marked(names, "a")) is function
    assert names.scope_of(marked(names, "b")) is comprehension
    assert names.scope_of(marked(names, "x")) is comprehension
    assert names.scope_of(comprehension) is function


def test_scope_of_the_module_is_itself() -> None:
    names = names_of("x = 1\n")
    assert names.scope_of(names.source.tree) is names.source.tree


def test_walrus_in_a_comprehension_binds_in_the_function() -> None:
    names = names_of("def f(v): return [y := x for x in v], y\n")
    assert set(names.local_bindings(names.source.functions[0].node)) == {"v", "y"}


def test_lookup_tells_the_scope() -> None:
    names = names_of("def f(x):\n  return lambda: (x, y)\ny = 1\n")
    assert names.lookup("x", marked(names, "x"))[0] is names.source.functions[0].node
    assert names.lookup("y", marked(names, "y", 0))[0] is names.source.tree
    assert names.lookup("z", marked(names, "x")) == (names.source.tree, [])


def test_statement_of_a_binding() -> None:
    names = names_of("for i, (a, b) in v:\n  pass\ndef f(p): pass\n")
    bindings = names.local_bindings(names.source.tree)
    loop, function = names.source.tree.body
    assert bindings["a"][0].statement is loop
    assert bindings["f"][0].statement is function
    assert names.local_bindings(names.source.functions[0].node)["p"][0].statement is function


def test_bindings_are_in_source_order() -> None:
    names = names_of("if a:\n  x = 1\n  def x(): pass\nx = 2\n")
    lines = [vars(binding.node)["lineno"] for binding in names.bindings("x", names.source.tree)]
    assert lines == [2, 3, 4]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("len(x)", "len", True),
        ("len = 1\nlen(x)", "len", False),
        ("def f(len): return len(x)", "len", False),
        ("def f():\n  len = 1\nlen(x)", "len", True),
        ("from mine import len\nlen(x)", "len", False),
        ("from mine import *\nlen(x)", "len", True),
        ("from mine import *\nsum(x)", "sum", False),
        ("x.len(x)", "len", False),
    ],
)
def test_builtin(text: str, name: str, expected: bool) -> None:
    names = names_of(text)
    call = [node for node in ast.walk(names.source.tree) if isinstance(node, ast.Call)][-1]
    assert names.is_builtin(call.func, name) is expected


def test_single_definition() -> None:
    names = names_of("def f(): pass\ng = 1\ng = 2\n(f, g, h, a.f)\n")
    found = names.single_definition(marked(names, "f", 0))
    assert found is not None
    assert found.node is names.source.functions[0].node
    for several_or_none in ("g", "h", "a.f"):
        assert names.single_definition(marked(names, several_or_none)) is None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are new in Python 3.12")
def test_type_parameter_shadows_an_import() -> None:
    assert qualified("import torch\ndef f[torch](x): return torch.sin", "torch.sin") is None


def test_nodes_come_with_their_scopes_in_source_order() -> None:
    names = names_of("def f(a=1):\n  return b\nc\n")
    found = [(type(node).__name__, type(scope).__name__) for node, scope in names.nodes()]
    assert found[0] == ("Module", "Module")
    assert ("Return", "FunctionDef") in found
    assert ("Constant", "Module") in found
    assert found[-1] == ("Name", "Module")


def test_deep_tree() -> None:
    text = "x = 1\nif x: pass\n" + "".join(f"elif x == {i}: pass\n" for i in range(900))
    names = names_of(text)
    assert len(list(names.nodes())) > 900
