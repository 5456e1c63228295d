"""What the analysis says is reached, against what Dynamo traces when the program runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from types import CodeType
from typing import Any

import pytest

from gbfix.analysis.files import Files
from gbfix.analysis.project import load
from gbfix.analysis.source import parse

torch = pytest.importorskip("torch")


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[CodeType]]:
    """The code objects that Dynamo traces, at the top or inlined."""
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    seen: set[CodeType] = set()
    original = InstructionTranslatorBase.__init__

    def record(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        seen.add(self.f_code)

    monkeypatch.setattr(InstructionTranslatorBase, "__init__", record)
    torch._dynamo.reset()
    yield seen
    torch._dynamo.reset()


PROGRAMS = {
    "helpers": """
        def h(x): return x + 1
        def unused(x): return x
        hh = h
        def caller(x): return hh(x) * 2
        @torch.compile(backend="eager")
        def f(x): return caller(x)
        f(torch.ones(2))
        """,
    "closures": """
        def wrap(fn):
            def inner(*args): return fn(*args) + 1
            return inner
        @wrap
        def h(x): return x * 2
        @wrap
        def other(x): return x * 3
        @torch.compile(backend="eager")
        def f(x):
            def local(y): return h(y)
            return local(x) + (lambda z: z - 1)(x)
        f(torch.ones(2))
        """,
    "modules": """
        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(2, 2)
            def forward(self, x): return self.step(self.linear(x))
            def step(self, x): return x + 1
            def unused(self, x): return x
        class Special(Block):
            def step(self, x): return super().step(x) * self.scale
            @property
            def scale(self): return 2
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = torch.nn.ModuleList([Special() for _ in range(2)])
                self.tail = torch.nn.Sequential(Special(), torch.nn.ReLU())
            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return self.tail(x)
        torch.compile(Net(), backend="eager")(torch.ones(1, 2))
        """,
    "own call method": """
        class Net(torch.nn.Module):
            def __call__(self, x): return super().__call__(x) + 1
            def forward(self, x): return x * 2
        net = Net()
        torch.compile(net, backend="eager")(torch.ones(2))
        """,
    "compiled in place": """
        class Net(torch.nn.Module):
            def __call__(self, x): return super().__call__(x) + 1
            def forward(self, x): return x * 2
        net = Net()
        net.compile(backend="eager")
        net(torch.ones(2))
        """,
    "decorated class": """
        @torch.compile(backend="eager")
        class Net(torch.nn.Module):
            def forward(self, x): return x * 2
            def other(self, x): return x
        net = Net()
        net(torch.ones(2)), net.other(torch.ones(2))
        """,
    "disabled": """
        def h(x): return x + 1
        @torch.compiler.disable
        def off(x): return h(x)
        @torch.compiler.disable(recursive=False)
        def frame_off(x): return below(x)
        def below(x): return x * 2
        @torch.compile(backend="eager")
        def f(x): return off(x) + frame_off(x)
        f(torch.ones(2))
        """,
    "compile over disable": """
        @torch.compile(backend="eager")
        @torch.compiler.disable
        def f(x): return x + 1
        f(torch.ones(2))
        """,
    "disable over compile": """
        @torch.compiler.disable
        @torch.compile(backend="eager")
        def f(x): return x + 1
        f(torch.ones(2))
        """,
    "objects": """
        class Step:
            def __init__(self, n): self.n = n
            def __call__(self, x): return self.go(x)
            def go(self, x): return x * self.n
        @torch.compile(backend="eager")
        def f(x): return Step(2)(x)
        f(torch.ones(2))
        """,
    "autograd function": """
        def h(x): return x * 2
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): return h(x)
            @staticmethod
            def backward(ctx, g): return g * 2
        @torch.compile(backend="eager")
        def f(x): return Double.apply(x)
        f(torch.ones(2, requires_grad=True))
        """,
    "functions passed on": """
        import functools
        from torch.utils.checkpoint import checkpoint
        def h(x): return x * 2
        def k(x, n): return x * n
        def apply(fn, x): return fn(x)
        @torch.compile(backend="eager")
        def f(x):
            return checkpoint(h, x, use_reentrant=False) + apply(functools.partial(k, n=2), x)
        f(torch.ones(2))
        """,
    "optimize": """
        def h(x): return x + 1
        torch._dynamo.optimize("eager")(h)(torch.ones(2))
        """,
    "helper that compiles": """
        def fast(**options):
            def wrap(fn): return torch.compile(fn, backend="eager", **options)
            return wrap
        @fast(dynamic=False)
        def f(x): return x + 1
        f(torch.ones(2))
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_dynamo_traces_the_same_functions(name: str, traced: set[CodeType], tmp_path: Path) -> None:
    lines = [line[8:] for line in PROGRAMS[name].splitlines()]
    program = tmp_path / "program.py"
    program.write_text("\n".join(["import torch", *lines]))
    run_path(str(program))

    source = parse(str(program), program.read_text())
    found = load([source]).compiled[source.path]
    own = [c for c in traced if c.co_filename == str(program) and not c.co_name.startswith("torch_dynamo_resume_in")]
    expected = {(code.co_name, code.co_firstlineno) for code in own}
    assert {(f.function.name, source.span(f.function.node).line) for f in found} == expected


def test_a_search_that_is_cut_off_keeps_what_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.py": "import torch\nfrom m0 import f0\n@torch.compile\ndef f(x): return f0(x)\n"}
    for number in range(5):
        files[f"m{number}.py"] = (
            f"from m{number + 1} import f{number + 1}\ndef f{number}(x): return f{number + 1}(x)\n# {'long ' * 100}\n"
        )
    texts = {path: text.encode() for path, text in files.items()}

    def found(room: int) -> tuple[list[str], bool]:
        monkeypatch.setattr("gbfix.analysis.reach.ROOM", room)
        project = load(Files(texts, texts.__getitem__))
        return [path for path, functions in project.compiled.items() if functions], project.search.is_cut_off

    assert found(1_000_000) == (["a.py", "m0.py", "m1.py", "m2.py", "m3.py", "m4.py"], False)
    near, is_cut_off = found(1_000)
    assert is_cut_off
    assert near[:1] == ["a.py"]
    assert "m4.py" not in near
    assert found(1_000) == (near, is_cut_off)
