import textwrap

import pytest

from gbfix.analysis.project import Project, load
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import parse


def project_of(files: dict[str, str], assume_compiled: bool = False) -> Project:
    sources = [parse(path, textwrap.dedent(text)) for path, text in files.items()]
    return load(sources, assume_compiled)


def compiled(text: str, assume_compiled: bool = False) -> dict[str, CompiledFunction]:
    found = project_of({"case.py": text}, assume_compiled).compiled["case.py"]
    return {function.function.qualname: function for function in found}


def compiled_across(files: dict[str, str], assume_compiled: bool = False) -> dict[str, list[str]]:
    found = project_of(files, assume_compiled).compiled
    return {path: [f.function.qualname for f in functions] for path, functions in found.items() if functions}


FUNCTION = "def g(x): return x\n"
NET = "class Net(torch.nn.Module):\n  def forward(self, x): return x\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import torch\n@torch.compile\ndef g(x): return x", "@torch.compile (line 2)"),
        ("import torch\n@torch.compile()\ndef g(x): return x", "@torch.compile() (line 2)"),
        ("import torch as th\n@th.compile\ndef g(x): return x", "@th.compile (line 2)"),
        ("from torch import compile\n@compile\ndef g(x): return x", "@compile (line 2)"),
        ("from torch import compile as tc\n@tc\ndef g(x): return x", "@tc (line 2)"),
        ("from torch import *\n@compile\ndef g(x): return x", "@compile (line 2)"),
        ("import torch.nn\n@torch.compile\ndef g(x): return x", "@torch.compile (line 2)"),
        (f"import torch\n{FUNCTION}f = torch.compile(g)", "torch.compile(g) (line 3)"),
        (f"import torch\n{FUNCTION}f = torch.compile(model=g)", "torch.compile(model=g) (line 3)"),
        (f"import torch\n{FUNCTION}torch.compile(g)(1)", "torch.compile(g) (line 3)"),
        (f"import torch\n{FUNCTION}torch.compile()(g)", "torch.compile()(g) (line 3)"),
        (f"import torch\n{FUNCTION}c = torch.compile\nc(g)", "c(g) (line 4)"),
        (f"import torch\n{FUNCTION}t = torch\nt.compile(g)", "t.compile(g) (line 4)"),
        (f"import torch\n{FUNCTION}def run():\n  c = torch.compile\n  return c(g)", "c(g) (line 5)"),
        (f"import torch\n{FUNCTION}h = g\nk = h\ntorch.compile(k)", "torch.compile(k) (line 5)"),
        (f"import torch\n{FUNCTION}fs = [g]\nfs = [torch.compile(f) for f in fs]", "torch.compile(f) (line 4)"),
        (f"import torch\n{FUNCTION}for f in (g,):\n  torch.compile(f)", "torch.compile(f) (line 4)"),
        (f"import torch, functools\n{FUNCTION}torch.compile(functools.partial(g, 1))", None),
        (
            "import torch, functools\nfast = functools.partial(torch.compile, dynamic=True)\n@fast\ndef g(x): return x",
            None,
        ),
        ("import torch\nfrom functools import partial\n@partial(torch.compile, mode='m')\ndef g(x): return x", None),
        (f"import torch\nfrom functools import partial\n{FUNCTION}partial(torch.compile, g)()", None),
        ("import torch\nfast = torch.compile(dynamic=True)\n@fast\ndef g(x): return x", "@fast (line 3)"),
        (f"import torch\n{FUNCTION}torch._dynamo.optimize('eager')(g)", None),
        ("import torch._dynamo as dynamo\n@dynamo.optimize()\ndef g(x): return x", "@dynamo.optimize() (line 2)"),
        (f"import torch\ndef fast(fn): return torch.compile(fn)\n{FUNCTION}fast(g)", "torch.compile(fn) (line 2)"),
        ("import torch\ndef fast(fn): return torch.compile(fn)\n@fast\ndef g(x): return x", None),
        ("import torch\ndef fast(fn):\n  c = torch.compile(fn)\n  print(c)\n@fast\ndef g(x): return x", None),
        ("import torch\nfast = lambda fn: torch.compile(fn)\n@fast\ndef g(x): return x", None),
        (
            "import torch\ndef fast(**options):\n  def wrap(fn): return torch.compile(fn, **options)\n  return wrap\n"
            "@fast(mode='x')\ndef g(x): return x",
            "torch.compile(fn, **options) (line 3)",
        ),
        (
            "import torch\nclass Fast:\n  def __init__(self, fn): self.fn = torch.compile(fn)\n"
            "@Fast\ndef g(x): return x",
            "torch.compile(fn) (line 3)",
        ),
        (f"import torch\n{FUNCTION}def main(step=g):\n  return torch.compile(step)", "torch.compile(step) (line 4)"),
        (f"import torch\n{FUNCTION}f = torch.compile(g) if FAST else g", "torch.compile(g) (line 3)"),
        (f"import torch\n{FUNCTION}(f := torch.compile(g))", "torch.compile(g) (line 3)"),
        (f"import torch\n{FUNCTION}FS = {{'a': g}}\ntorch.compile(FS['a'])", None),
        (f"import torch\n{FUNCTION}getattr(torch, 'compile')(g)", None),
        (
            "import torch\njit = torch.compile if FAST else (lambda f: f)\n@jit\ndef g(x): return x",
            "@jit, possibly torch.compile (line 3)",
        ),
        (
            "try:\n  from torch import compile as c\nexcept ImportError:\n  c = lambda f: f\n@c\ndef g(x): return x",
            "@c, possibly torch.compile (line 5)",
        ),
        (
            "import torch\ntry:\n  compile = torch.compile\nexcept AttributeError:\n  def compile(f): return f\n"
            "@compile\ndef g(x): return x",
            "@compile, possibly torch.compile (line 6)",
        ),
    ],
)
def test_function_is_compiled(text: str, reason: str | None) -> None:
    found = compiled(text)
    assert "g" in found
    assert reason is None or found["g"].reason == reason


@pytest.mark.parametrize(
    "text",
    [
        FUNCTION,
        "import re\ndef g(x): return x\nre.compile(g)",
        "def g(x): return x\ncompile(g, '', 'exec')",
        "import torch\ndef g(x): return x\ndef run(torch): torch.compile(g)",
        "import torch\n@torch.jit.script\ndef g(x): return x",
        "import torch\n@torch.no_grad()\ndef g(x): return x",
        "import other as torch\n@torch.compile\ndef g(x): return x",
        "import torch\n@torch.compiler.disable\n@torch.compile\ndef g(x): return x",
        "import torch\n@torch.compiler.disable(recursive=True)\n@torch.compile\ndef g(x): return x",
        "import torch\nf = torch.compile(f)\ndef g(x): return f(x)",
        "import torch\nf = torch.compile\nf = f(f)\ndef g(x): return x",
    ],
)
def test_function_is_not_compiled(text: str) -> None:
    assert "g" not in compiled(text)


def test_compile_over_disable_compiles() -> None:
    assert "g" in compiled("import torch\n@torch.compile\n@torch.compiler.disable\ndef g(x): return x")


@pytest.mark.parametrize(
    "use",
    [
        "torch.compile(Net())",
        "model = Net()\ntorch.compile(model)",
        "model = Net()\nmodel = torch.compile(model)",
        "model = Net().cuda().eval()\nmodel = torch.compile(model)",
        "model = Net()\nmodel.compile()",
        "Net().to('cpu').compile()",
        "torch.compile(Net)",
        "Model = torch.compile(Net)\nModel()",
        "torch.compile(torch.nn.Sequential(Net(), Net()))",
        "torch.nn.Sequential(Net()).compile()",
        "import copy\ntorch.compile(copy.deepcopy(Net()))",
        "torch.compile(torch.nn.DataParallel(Net()))",
        "def make(): return Net()\ntorch.compile(make())",
        "def make(): return build()\ndef build() -> Net: ...\ntorch.compile(make())",
        "def fit(model: Net):\n  model = torch.compile(model)",
        "def fit(model: 'Net | None'):\n  model = torch.compile(model)",
        "def fit(model):\n  model = torch.compile(model)\nfit(Net())",
        "def fit(model):\n  model.compile()\nfit(model=Net())",
        "class Trainer:\n  def __init__(self): self.model = torch.compile(Net())",
        "class Trainer:\n  def __init__(self, m): self.model = torch.compile(m)\nTrainer(Net())",
        "class Trainer:\n  def __init__(self, m: Net): self.m = m\n  def go(self): self.m = torch.compile(self.m)",
        "class Trainer:\n  m: Net\n  def go(self): self.m.compile()",
        "model = Net()\nmodel.forward = torch.compile(model.forward)",
        "torch.compile(Net().__call__)",
        "torch.compile(Net.forward)",
        "torch.compile(lambda x: Net()(x))",
        "for m in [Net(), Net()]:\n  m.compile()",
        "ms = []\nms.append(Net())\ntorch.compile(ms[0])",
        "ms = {}\nms['a'] = Net()\nfor k, m in ms.items():\n  torch.compile(m)",
        "a, b = Net(), 1\ntorch.compile(a)",
        "class Outer(torch.nn.Module):\n  def __init__(self): self.n = Net()\nfor m in Outer().children(): m.compile()",
    ],
)
def test_module_is_compiled(use: str) -> None:
    assert "Net.forward" in compiled(f"import torch\n{NET}{use}\n")


def test_decorated_class_compiles_forward_and_call_only() -> None:
    text = """
        import torch
        @torch.compile
        class Net(torch.nn.Module):
            def __init__(self): super().__init__()
            def __call__(self, x): return super().__call__(x)
            def forward(self, x): return x
            def other(self, x): return x
        """
    assert set(compiled(text)) == {"Net.__call__", "Net.forward"}


def test_compile_in_place_leaves_an_own_call_method_alone() -> None:
    text = """
        import torch
        class Net(torch.nn.Module):
            def __call__(self, x): return super().__call__(x)
            def forward(self, x): return x
        Net().compile()
        """
    assert set(compiled(text)) == {"Net.forward"}


def test_a_compile_method_of_the_users_own_does_not_compile() -> None:
    text = """
        import torch
        class Net(torch.nn.Module):
            def compile(self): pass
            def forward(self, x): return x
        Net().compile()
        """
    assert compiled(text) == {}


def test_plain_class_compiles_its_call_method_only() -> None:
    text = """
        import torch
        class Step:
            def __call__(self, x): return x
            def forward(self, x): return x
        torch.compile(Step())
        """
    assert set(compiled(text)) == {"Step.__call__"}


@pytest.mark.parametrize(
    "use",
    [
        "a = A()\nf = torch.compile(a.g)",
        "f = torch.compile(A().g)",
        "f = torch.compile(A.g)",
        "class B(A):\n  def __init__(self): self.g = torch.compile(self.g)",
        "class B(A):\n  def run(self): return torch.compile(super().g)",
        "class B(A):\n  g = torch.compile(A.g)",
        "def run(a: A): return torch.compile(a.g)",
        "torch.compile(getattr(A(), 'g'))",
    ],
)
def test_method_is_compiled(use: str) -> None:
    text = "import torch\nclass A:\n  def g(self, x): return x\n  def h(self, x): return x\n"
    assert set(compiled(text + use)) == {"A.g"}


@pytest.mark.parametrize(
    "decorators", ["@torch.compile", "@staticmethod\n  @torch.compile", "@classmethod\n  @torch.compile"]
)
def test_decorated_method_is_compiled(decorators: str) -> None:
    assert set(compiled(f"import torch\nclass A:\n  {decorators}\n  def g(self): return 1\n")) == {"A.g"}


def test_lambda_is_compiled() -> None:
    assert set(compiled("import torch\nf = torch.compile(lambda x: h(x))\ndef h(x): return x")) == {"<lambda>", "h"}


def test_options_that_are_constants() -> None:
    found = compiled(
        """
        import torch
        from functools import partial
        @torch.compile(fullgraph=True, dynamic=False, backend="eager")
        def constants(x): return shared(x)
        @torch.compile(fullgraph=FULL, dynamic=None, backend=make())
        def others(x): return shared(x)
        @partial(torch.compile, fullgraph=False)
        def through_partial(x): return x
        @torch._dynamo.optimize("eager", nopython=True)
        def through_optimize(x): return x
        def shared(x): return x
        """
    )
    options = {name: (f.fullgraph, f.dynamic, f.backend) for name, f in found.items()}
    assert options == {
        "constants": (True, False, "eager"),
        "others": (None, None, None),
        "through_partial": (False, None, None),
        "through_optimize": (True, None, "eager"),
        "shared": (True, None, None),
    }


def test_options_of_module_compile() -> None:
    assert compiled(f"import torch\n{NET}Net().compile(fullgraph=True)")["Net.forward"].fullgraph is True


REACHED = "def h(x): return x\n"


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("", "return h(x)"),
        ("k = h", "return k(x)"),
        ("", "k = h\n  return k(x)"),
        ("def k(x): return h(x)", "return k(x)"),
        ("", "def inner(x): return h(x)\n  return inner(x)"),
        ("", "inner = lambda x: h(x)\n  return inner(x)"),
        ("", "return [h(y) for y in x]"),
        ("", "return list(map(h, x))"),
        ("", "return max(x, key=h)"),
        ("", "return torch.vmap(h)(x)"),
        ("", "return torch.cond(x.sum() > 0, h, h, (x,))"),
        ("import functools", "return functools.partial(h, x)()"),
        ("from torch.utils.checkpoint import checkpoint", "return checkpoint(h, x)"),
        ("from torch.utils.checkpoint import checkpoint", "return checkpoint(lambda y: h(y), x)"),
        ("", "return unknown(x, callback=h)"),
        ("def apply(fn, y): return fn(y)", "return apply(h, x)"),
        ("def apply(*fns): return fns[0](1)", "return apply(h)"),
        ("def apply(**fns): return fns['a'](1)", "return apply(a=h)"),
        ("def get(): return h", "return get()(x)"),
        ("def get():\n  def k(x): return h(x)\n  return k", "return get()(x)"),
        ("TABLE = {'a': h}", "return TABLE['a'](x)"),
        ("TABLE = {}\nTABLE['a'] = h", "return TABLE.get('a')(x)"),
        ("if flag:\n  k = h\nelse:\n  k = None", "return k(x)"),
        ("class A:\n  def step(self, x): return h(x)", "o = A()\n  return o.step(x)"),
        ("class A:\n  def step(self, x): return h(x)", "return A().step(x)"),
        ("class A:\n  @staticmethod\n  def step(x): return h(x)", "return A.step(x)"),
        ("class A:\n  @classmethod\n  def step(cls, x): return cls.k(x)\n  k = staticmethod(h)", "return A.step(x)"),
        ("class A:\n  def __call__(self, x): return h(x)", "return A()(x)"),
        ("class A:\n  def __init__(self, x): self.y = h(x)", "return A(x).y"),
        (
            "import dataclasses\n@dataclasses.dataclass\nclass A:\n  x: int\n  def __post_init__(self): h(1)",
            "return A(x)",
        ),
        ("class A:\n  @property\n  def p(self): return h(1)", "return A().p"),
        ("import functools\nclass A:\n  @functools.cached_property\n  def p(self): return h(1)", "return A().p"),
        ("class A:\n  @property\n  def p(self): return h", "return A().p(x)"),
        ("class A:\n  def __enter__(self): return h(1)\n  def __exit__(self, *a): pass", "with A(): return x"),
        ("class A:\n  def __getitem__(self, i): return h(i)", "return A()[x]"),
        ("class A:\n  def __iter__(self): yield h(1)", "return [y for y in A()]"),
        ("import contextlib\n@contextlib.contextmanager\ndef m():\n  yield h(1)", "with m(): return x"),
        ("def deco(fn):\n  def w(*a): return fn(*a)\n  return w\n@deco\ndef k(x): return h(x)", "return k(x)"),
        ("import functools\n@functools.lru_cache(maxsize=None)\ndef k(x): return h(x)", "return k(x)"),
        ("@unknown.deco\ndef k(x): return h(x)", "return k(x)"),
        ("@torch.no_grad()\ndef k(x): return h(x)", "return k(x)"),
        ("class F(torch.autograd.Function):\n  @staticmethod\n  def forward(ctx, x): return h(x)", "return F.apply(x)"),
        (
            "class F(torch.autograd.Function):\n  @staticmethod\n  def backward(ctx, x): return h(x)",
            "return F.apply(x)",
        ),
        ("def k(o: 'A'): return o.step()\nclass A:\n  def step(self): return h(1)", "return k(x)"),
        ("def k(x, fn=h): return fn(x)", "return k(x)"),
        ("k = lambda x: h(x)", "return k(x)"),
        ("async def k(x): return h(x)", "return await_(k(x))"),
        ("def gen():\n  yield h(1)", "return sum(gen())"),
        ("def rec(x): return rec(x) + h(x)", "return rec(x)"),
        ("def even(x): return odd(x)\ndef odd(x): return even(h(x))", "return even(x)"),
    ],
)
def test_helper_is_reached(before: str, body: str) -> None:
    found = compiled(f"import torch\n{REACHED}{before}\n@torch.compile\ndef f(x):\n  {body}\n")
    assert "h" in found
    assert "f" in found


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("", "return x.h(x)"),
        ("", "return other.h(x)"),
        ("", "h = x\n  return h(x)"),
        ("", "def inner(x): return h(x)\n  return x"),
        ("", "def inner(h): return h(x)\n  return inner(x)"),
        ("", "return isinstance(x, h)"),
        ("@torch.compiler.disable\ndef k(x): return h(x)", "return k(x)"),
        ("@torch.compiler.disable()\ndef k(x): return h(x)", "return k(x)"),
        ("@torch.compiler.disable(reason='slow')\ndef k(x): return h(x)", "return k(x)"),
        ("@torch._dynamo.disable\ndef k(x): return h(x)", "return k(x)"),
        ("@torch._dynamo.disable(recursive=True)\ndef k(x): return h(x)", "return k(x)"),
        ("from torch.compiler import disable\n@disable\ndef k(x): return h(x)", "return k(x)"),
        ("k = torch.compiler.disable(h)", "return k(x)"),
        ("k = torch.compiler.disable(fn=h)", "return k(x)"),
        ("", "return torch.compiler.disable(h)(x)"),
        ("def off(fn): return torch.compiler.disable(fn)\n@off\ndef k(x): return h(x)", "return k(x)"),
        ("class A:\n  @torch.compiler.disable\n  def step(self, x): return h(x)", "return A().step(x)"),
        ("class A:\n  @staticmethod\n  @torch.compiler.disable\n  def step(x): return h(x)", "return A.step(x)"),
        ("@torch.jit.script\ndef k(x): return h(x)", "return k(x)"),
        ("@torch.compiler.allow_in_graph\ndef k(x): return h(x)", "return k(x)"),
        ("@torch._dynamo.nonstrict_trace\ndef k(x): return h(x)", "return k(x)"),
        ("@torch.library.custom_op('a::k', mutates_args=())\ndef k(x): return h(x)", "return k(x)"),
        ("import triton\n@triton.jit\ndef k(x): return h(x)", "return k[(1,)](x)"),
        (
            "def deco(fn):\n  def w(*a): return fn(*a)\n  return w\n@deco\ndef a(x): return x\n"
            "@deco\ndef b(x): return h(x)",
            "return a(x)",
        ),
        ("class A:\n  def step(self): return h(1)\nclass B(A):\n  def step(self): return 1", "return B().step()"),
        ("def helper_factory():\n  return h(1)\nVALUE = helper_factory()", "return VALUE"),
    ],
)
def test_helper_is_not_reached(before: str, body: str) -> None:
    found = compiled(f"import torch\n{REACHED}{before}\n@torch.compile\ndef f(x):\n  {body}\n")
    assert "h" not in found
    assert "f" in found


@pytest.mark.parametrize(
    "disable",
    [
        "torch.compiler.disable(recursive=False)",
        "torch._dynamo.disable(recursive=False)",
        "torch._dynamo.decorators.skip",
    ],
)
def test_disable_of_the_frame_only_goes_on_to_its_callees(disable: str) -> None:
    text = f"import torch\n{REACHED}@{disable}\ndef k(x): return h(x)\n@torch.compile\ndef f(x): return k(x)\n"
    found = compiled(text)
    assert set(found) == {"h", "f"}
    assert found["h"].reason == "called from k (line 4), compiled by @torch.compile (line 5)"


def test_disabled_function_that_is_also_reached_otherwise() -> None:
    text = f"import torch\n{REACHED}k = torch.compiler.disable(h)\n@torch.compile\ndef f(x): return k(x) + h(x)\n"
    assert set(compiled(text)) == {"h", "f"}


def test_decorated_helper_reaches_wrapper_and_function() -> None:
    text = """
        import functools, torch
        def deco(fn):
            @functools.wraps(fn)
            def wrapper(*args, **kwargs):
                return fn(*args, **kwargs)
            return wrapper
        @deco
        def h(x): return x
        @deco
        def unrelated(x): return x
        @torch.compile
        def f(x): return h(x)
        """
    assert set(compiled(text)) == {"deco.<locals>.wrapper", "h", "f"}


def test_decorator_that_keeps_the_function_does_not_add_its_other_functions() -> None:
    text = """
        import torch
        def deco(fn):
            def never(*args): return 0
            print(never)
            return fn
        @deco
        def h(x): return x
        @torch.compile
        def f(x): return h(x)
        """
    assert set(compiled(text)) == {"h", "f"}


def test_decorated_method_keeps_self() -> None:
    text = """
        import functools, torch
        def deco(fn):
            @functools.wraps(fn)
            def wrapper(self, *args):
                return fn(self, *args)
            return wrapper
        def loose(fn):
            def wrapper(*args):
                return fn(*args)
            return wrapper
        class Net(torch.nn.Module):
            @deco
            def forward(self, x): return self.a(x)
            @loose
            def a(self, x): return self.b(x)
            def b(self, x): return x.b()
        torch.compile(Net())
        """
    assert set(compiled(text)) >= {"Net.forward", "Net.a", "Net.b"}


SUBMODULE = """
import torch
from torch import nn
class B(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self, inner=None, n=2):
        super().__init__()
        {init}
    def forward(self, x):
        {forward}
torch.compile(Net())
"""


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ("self.b = B()", "return self.b(x)"),
        ("self.b = B()", "return self.b.forward(x)"),
        ("self.b = B()", "b = self.b\n        return b(x)"),
        ("self.b: nn.Module = B() if n else None", "return self.b(x)"),
        ("self.bs = nn.ModuleList([B(), B()])", "for m in self.bs: x = m(x)\n        return x"),
        ("self.bs = nn.ModuleList(B() for _ in range(n))", "for i, m in enumerate(self.bs): x = m(x)"),
        ("self.bs = nn.ModuleList([B() for _ in range(n)])", "return self.bs[0](x)"),
        ("self.bs = [B() for _ in range(n)]", "for m in self.bs[:1]: x = m(x)"),
        ("self.bs = nn.ModuleList()\n        for _ in range(n): self.bs.append(B())", "for m in self.bs: m(x)"),
        ("bs = []\n        bs.append(B())\n        self.bs = nn.Sequential(*bs)", "return self.bs(x)"),
        ("bs = [B()]\n        bs += [B()]\n        self.bs = nn.Sequential(*bs)", "return self.bs(x)"),
        ("self.bs = nn.Sequential(B(), nn.ReLU())", "return self.bs(x)"),
        ("self.bs = nn.Sequential(B())", "for m in self.bs: m(x)"),
        ("self.bs = nn.ModuleDict({'a': B()})", "return self.bs['a'](x)"),
        ("self.bs = nn.ModuleDict({'a': B()})", "for k, m in self.bs.items(): m(x)"),
        ("self.bs = nn.ModuleDict()\n        self.bs['a'] = B()", "return self.bs['a'](x)"),
        ("self.bs = nn.ModuleDict({k: B() for k in 'ab'})", "for m in self.bs.values(): m(x)"),
        ("self.a = nn.ModuleList([B()]); self.c = [1]", "for m, c in zip(self.a, self.c): m(x)"),
        ("self.add_module('b', B())", "return self.b(x)"),
        ("setattr(self, 'b', B())", "return getattr(self, 'b')(x)"),
        ("for i in range(n): setattr(self, f'b{i}', B())", "return getattr(self, f'b{i}')(x)"),
        ("self.b = self.build()", "return self.b(x)\n    def build(self): return B()"),
        ("self.b = B()", "for m in self.children(): x = m(x)"),
        ("self.b = B()", "return torch.utils.checkpoint.checkpoint(self.b, x)"),
        ("self.b = B()", "return self._checkpoint(self.b.__call__, x)"),
        ("self.b = B()", "return self.helper(x)\n    def helper(self, x): return self.b(x)"),
        ("self.b = B()", "return self.p(x)\n    @property\n    def p(self): return self.b"),
        ("self.b = B()", "return run(self.b, x)\ndef run(m, x): return m(x)"),
        ("self.b = torch.compile(B())", "return self.b(x)"),
        ("self.b = make(B)", "return self.b(x)\ndef make(cls): return cls()"),
        ("self.f = B().forward", "return self.f(x)"),
    ],
)
def test_submodule_is_reached(init: str, forward: str) -> None:
    assert {"B.forward", "Net.forward"} <= set(compiled(SUBMODULE.format(init=init, forward=forward)))


def test_submodule_that_is_not_called_is_not_reached() -> None:
    text = SUBMODULE.format(init="self.b = B()\n        self.c = 1", forward="return self.c + x")
    assert set(compiled(text)) == {"Net.forward"}


@pytest.mark.parametrize(
    "text",
    [
        "class Net(nn.Module):\n  def __init__(self, b: B): self.b = b\n  def forward(self, x): return self.b(x)",
        "class Net(nn.Module):\n  inner: B\n  def forward(self, x): return self.inner(x)",
        "class Base(nn.Module):\n  def __init__(self): self.b = B()\n  def forward(self, x): return self.b(x)\n"
        "class Net(Base): pass",
        "class Base(nn.Module):\n  def forward(self, x): return self.step(x)\n  def step(self, x): return x\n"
        "class Net(Base):\n  def step(self, x): return B()(x)",
        "class Base(nn.Module):\n  def forward(self, x): return B()(x)\n"
        "class Net(Base):\n  def forward(self, x): return super().forward(x)",
        "class Base(nn.Module):\n  def forward(self, x): return B()(x)\n"
        "class Net(Base):\n  def forward(self, x): return super(Net, self).forward(x)",
        "class Net(nn.Sequential):\n  def __init__(self): super().__init__(B(), B())",
        "class Net(nn.Sequential):\n  def __init__(self):\n    super().__init__()\n    self.append(B())",
        "class Net(nn.ModuleList):\n  def __init__(self): super().__init__([B()])\n"
        "  def forward(self, x):\n    for m in self: x = m(x)",
        "class Net(nn.Module):\n  def __init__(self): self.forward = self.run\n  def run(self, x): return B()(x)",
        "class Net(nn.Module):\n  def real(self, x): return B()(x)\n  forward = real",
        "class Net(nn.Module):\n  def forward(self, x): return self.head(x)\nnet = Net()\nnet.head = B()",
    ],
)
def test_classes_work_together(text: str) -> None:
    before = "import torch\nfrom torch import nn\nclass B(nn.Module):\n  def forward(self, x): return x\n"
    assert "B.forward" in compiled(f"{before}{text}\ntorch.compile(Net())\n")


def test_an_overridden_method_is_not_reached_through_the_subclass() -> None:
    text = """
        import torch
        class Base(torch.nn.Module):
            def forward(self, x): return self.step(x)
            def step(self, x): return x
        class Net(Base):
            def step(self, x): return x
        torch.compile(Net())
        """
    assert set(compiled(text)) == {"Base.forward", "Net.step"}


def test_self_of_a_mixin_is_an_object_of_its_subclasses() -> None:
    text = """
        import torch
        class Mixin:
            def prepare(self):
                self.fast = torch.compile(self.forward)
                self.encode = torch.compile(self.parts.encoder)
        class Encoder(torch.nn.Module):
            def forward(self, x): return x
        class Parts(torch.nn.Module):
            def __init__(self): self.encoder = Encoder()
        class Net(torch.nn.Module, Mixin):
            def __init__(self): self.parts = Parts()
            def forward(self, x): return x
        class Unrelated(torch.nn.Module):
            def forward(self, x): return x
        """
    assert set(compiled(text)) == {"Encoder.forward", "Net.forward"}


def test_arguments_of_calls_to_a_compiled_function() -> None:
    text = f"""
import torch
{NET}
def step(model, x): return model(x)
def main():
    fast = torch.compile(step)
    return fast(Net(), 1)
"""
    assert set(compiled(text)) == {"Net.forward", "step"}


def test_reason_for_a_chain_of_calls() -> None:
    found = compiled(
        """
        import torch
        def a(x): return x
        def b(x): return a(x)
        @torch.compile
        def f(x):
            return b(x)
        """
    )
    assert found["b"].reason == "called from f (line 7), compiled by @torch.compile (line 5)"
    assert found["a"].reason == "called from b (line 4), compiled by @torch.compile (line 5)"


def test_long_compile_calls_are_shortened_in_the_reason() -> None:
    text = (
        f"import torch\n{FUNCTION}f = torch.compile(\n  g, options={{'epilogue_fusion': True, 'max_autotune': True}})\n"
    )
    assert compiled(text)["g"].reason == "torch.compile(g, ...) (line 3)"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"m.py": FUNCTION, "main.py": "import torch\nfrom m import g\ntorch.compile(g)"}, {"m.py": ["g"]}),
        ({"m.py": FUNCTION, "main.py": "import torch\nimport m\ntorch.compile(m.g)"}, {"m.py": ["g"]}),
        ({"m.py": FUNCTION, "main.py": "import torch\nimport m as k\ntorch.compile(k.g)"}, {"m.py": ["g"]}),
        ({"m.py": FUNCTION, "main.py": "import torch\nfrom m import *\ntorch.compile(g)"}, {"m.py": ["g"]}),
        (
            {"p/m.py": FUNCTION, "p/main.py": "import torch\nfrom .m import g\ntorch.compile(g)"},
            {"p/m.py": ["g"]},
        ),
        (
            {"p/m.py": FUNCTION, "p/main.py": "import torch\nfrom . import m\ntorch.compile(m.g)"},
            {"p/m.py": ["g"]},
        ),
        (
            {"p/m.py": FUNCTION, "p/q/main.py": "import torch\nfrom ..m import g\ntorch.compile(g)"},
            {"p/m.py": ["g"]},
        ),
        (
            {"src/p/m.py": FUNCTION, "tests/main.py": "import torch\nfrom p.m import g\ntorch.compile(g)"},
            {"src/p/m.py": ["g"]},
        ),
        (
            {"p/__init__.py": "from .m import g", "p/m.py": FUNCTION, "main.py": "import torch, p\ntorch.compile(p.g)"},
            {"p/m.py": ["g"]},
        ),
        (
            {
                "p/__init__.py": "from .m import *",
                "p/m.py": FUNCTION,
                "a.py": "import torch\nfrom p import g\ntorch.compile(g)",
            },
            {"p/m.py": ["g"]},
        ),
        (
            {
                "p/__init__.py": "from .g import g",
                "p/g.py": FUNCTION,
                "a.py": "import torch\nfrom p import g\ntorch.compile(g)",
            },
            {"p/g.py": ["g"]},
        ),
        (
            {"p/__init__.py": "", "p/m.py": FUNCTION, "a.py": "import torch\nimport p.m\ntorch.compile(p.m.g)"},
            {"p/m.py": ["g"]},
        ),
        (
            {"p/logging.py": FUNCTION, "p/a.py": "import torch\nfrom .logging import g\ntorch.compile(g)"},
            {"p/logging.py": ["g"]},
        ),
        (
            {
                "h.py": "import torch\ndef fast(fn): return torch.compile(fn)",
                "a.py": "from h import fast\n@fast\n" + FUNCTION,
            },
            {"a.py": ["g"]},
        ),
        (
            {"h.py": "import torch\nfast = torch.compile", "a.py": "from h import fast\n@fast\n" + FUNCTION},
            {"a.py": ["g"]},
        ),
        (
            {"m.py": FUNCTION, "a.py": "import torch\nfrom m import g\n@torch.compile\ndef f(x): return g(x)"},
            {"a.py": ["f"], "m.py": ["g"]},
        ),
        (
            {"m.py": FUNCTION, "a.py": "import torch\n@torch.compile\ndef f(x):\n  from m import g\n  return g(x)"},
            {"a.py": ["f"], "m.py": ["g"]},
        ),
        (
            {"b.py": f"import torch\n{NET}", "a.py": "import torch, b\nclass N(b.Net): pass\ntorch.compile(N())"},
            {"b.py": ["Net.forward"]},
        ),
        (
            {
                "m.py": "from a import f\n" + FUNCTION,
                "a.py": "import torch\nfrom m import g\n@torch.compile\ndef f(x): return g(x)",
            },
            {"a.py": ["f"], "m.py": ["g"]},
        ),
        (
            {"m.py": FUNCTION + "SETTING = g\n", "a.py": "import torch\nfrom m import SETTING\ntorch.compile(SETTING)"},
            {"m.py": ["g"]},
        ),
        (
            {
                "x/utils.py": FUNCTION,
                "y/utils.py": FUNCTION,
                "y/a.py": "import torch\nfrom utils import g\ntorch.compile(g)",
            },
            {"y/utils.py": ["g"]},
        ),
        ({"p/copy.py": FUNCTION, "q/a.py": "import torch\nfrom copy import g\ntorch.compile(g)"}, {}),
        ({"x/u.py": FUNCTION, "y/u.py": FUNCTION, "z/a.py": "import torch\nfrom u import g\ntorch.compile(g)"}, {}),
        ({"m.py": FUNCTION, "a.py": "import torch\nfrom .n import g\ntorch.compile(g)"}, {}),
    ],
)
def test_across_files(files: dict[str, str], expected: dict[str, list[str]]) -> None:
    assert compiled_across(files) == expected


def test_reason_names_other_files() -> None:
    files = {
        "p/m.py": "def h(x): return x\ndef g(x): return h(x)\n",
        "p/train.py": "import torch\nfrom .m import g\nf = torch.compile(g)\n",
    }
    h, g = project_of(files).compiled["p/m.py"]
    assert g.reason == "torch.compile(g) (train.py:3)"
    assert h.reason == "called from g (line 2), compiled by torch.compile(g) (train.py:3)"


MODULES = """
import abc
from torch import nn
from elsewhere import PreTrainedModel
from .missing import Other
class A(nn.Module):
    def forward(self, x): return self.step(x) + helper(x)
    def step(self, x): return x
    def unused(self, x): return x
class B(A): pass
class C(PreTrainedModel):
    def forward(self, x): return x
class D(Other):
    def forward(self, x): return x
class E(PreTrainedModel):
    def step(self, x): return x
class F:
    def forward(self, x): return x
class G(abc.ABC):
    def forward(self, x): return x
def helper(x): return x
"""


def test_assumed_modules() -> None:
    found = compiled(MODULES, assume_compiled=True)
    assert {name: function.reason for name, function in found.items()} == {
        "A.forward": "forward of an nn.Module (assumed compiled)",
        "A.step": "called from A.forward (line 7), assumed compiled as forward of an nn.Module",
        "C.forward": "forward of a class with an unknown base (assumed compiled)",
        "D.forward": "forward of a class with an unknown base (assumed compiled)",
        "helper": "called from A.forward (line 7), assumed compiled as forward of an nn.Module",
    }


def test_modules_are_not_compiled_unless_assumed() -> None:
    assert compiled(MODULES) == {}


def test_autograd_functions_are_not_modules() -> None:
    text = "import torch\nclass F(torch.autograd.Function):\n  @staticmethod\n  def forward(ctx, x): return x\n"
    assert compiled(text, assume_compiled=True) == {}


def test_an_explicit_entry_goes_before_an_assumed_one() -> None:
    text = f"import torch\n{REACHED}{NET}@torch.compile(fullgraph=True)\ndef f(x): return h(x)\n"
    text = text.replace("return x\n@", "return h(x)\n@")
    found = compiled(text, assume_compiled=True)
    assert found["h"].reason == "called from f (line 6), compiled by @torch.compile(fullgraph=True) (line 5)"
    assert found["h"].fullgraph is True
    assert "Net.forward" in found


def test_order_is_by_path_and_position() -> None:
    files = {
        "b.py": "import torch\n@torch.compile\ndef z(x): return (lambda: 1)()\n@torch.compile\ndef a(x): return x\n",
        "a.py": "import torch\n@torch.compile\ndef y(x): return x\n",
    }
    found = [f for functions in project_of(files).compiled.values() for f in functions]
    assert [f.function.qualname for f in found if f.path == "b.py"] == ["z", "z.<locals>.<lambda>", "a"]


def test_the_order_of_the_files_does_not_matter() -> None:
    files = {
        "a.py": "import torch\nfrom b import g\n@torch.compile\ndef f(x): return g(x)\n",
        "b.py": "import torch\nfrom a import f\n@torch.compile(fullgraph=True)\ndef g(x): return f(x)\n",
    }
    one = project_of(files).compiled
    other = project_of(dict(reversed(files.items()))).compiled
    assert {p: [(f.reason, f.fullgraph) for f in one[p]] for p in files} == {
        p: [(f.reason, f.fullgraph) for f in other[p]] for p in files
    }


@pytest.mark.parametrize(
    "text",
    [
        "f = functools.partial(f, 1)\ntorch.compile(f)",
        "f = torch.compiler.disable(f)\nf = torch._dynamo.skip(f)\ntorch.compile(f)",
        "node = torch\nnode = node.next\ntorch.compile(node)",
        "class A:\n  def __call__(self): return self()\ntorch.compile(A())",
        "class A(torch.nn.Module):\n  def __init__(self): self.forward = self\ntorch.compile(A())",
        "class A(A): pass\ntorch.compile(A())",
        "class A(B): pass\nclass B(A): pass\ntorch.compile(A())",
        "c = torch.compile(mode='x')\nc = c(mode='y')\nc()",
        "def f(g): return f(lambda: g())\ntorch.compile(f)",
        "def f(g):\n  def w(): return f(w)\n  return w\ntorch.compile(f(f))",
        "x = x.get\ntorch.compile(x)",
        "def f(*a): return f(*a, *a)\nf(f)\ntorch.compile(f)",
        "torch.compile(None)\ntorch.compile(*a)\ntorch.compile(**k)\ntorch.compile(1, 2, 3)",
        "super()\nsuper(1, 2).x()\ngetattr(1)\ngetattr(torch, 'compile')",
    ],
)
def test_circles_come_to_an_end(text: str) -> None:
    compiled(f"import torch, functools\n{text}\n")


def test_long_chains_need_no_deep_stack() -> None:
    chain = "".join(f"def f{i}(x): return f{i + 1}(x)\n" for i in range(3000))
    names = "".join(f"g{i + 1} = g{i}\n" for i in range(3000))
    text = f"import torch\n{chain}def f3000(x): return x\ng0 = f0\n{names}torch.compile(g3000)\n"
    assert len(compiled(text)) == 3001
