from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.cli.check_factories import CompileCall, loadable, needed_arguments
from gbfix.cli.check_modules import module_of_file

MODEL = """import torch


class Net(torch.nn.Module):
    def __init__(self, size, *, bias, scale=1.0):
        super().__init__()

    def forward(self, x):
        return x


class Plain(torch.nn.Module):
    def __init__(self, size=3):
        super().__init__()

    def forward(self, x):
        return x


@torch.compile
def step(x):
    return x


def build():
    net = Net(3, bias=True)
    net = torch.compile(net)
    return net


def build_directly(size=3):
    return torch.compile(
        Net(size, bias=True)
    )


def build_in_place():
    net = Net(3, bias=True)
    net.compile()
    return net


def build_inner():
    @torch.compile
    def inner(x):
        return x
    return inner


def build_for(size):
    return torch.compile(Net(size, bias=True))


def main():
    net = torch.compile(Net(3, bias=True))
    net(torch.ones(3))


def train():
    net = torch.compile(Net(3, bias=True))
    loss = net(torch.ones(3))
    return loss


held = torch.compile(Net(3, bias=True))
twice = torch.compile(lambda x: x * 2)
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return file


def line_of(text: str, after: str = "import") -> int:
    before = MODEL.index(text, MODEL.index(after))
    return MODEL.count("\n", 0, before) + 1


def found(model: Path, qualname: str, line: int) -> tuple[str, str] | None:
    target = loadable(module_of_file(model), qualname, CompileCall(model, MODEL, line))
    return None if target is None else (target.attribute, target.factory)


def test_what_has_a_name_is_loaded_by_it(model: Path) -> None:
    assert found(model, "step", line_of("@torch.compile")) == ("step", "")
    assert found(model, "Plain.forward", 1) == ("Plain", "")


@pytest.mark.parametrize(
    ("function", "line", "after"),
    [
        ("build", "net = torch.compile(net)", "def build("),
        ("build_directly", "return torch.compile", "def build_directly"),
        ("build_in_place", "net.compile()", "def build_in_place"),
    ],
)
def test_a_function_that_returns_what_it_compiled_makes_it(model: Path, function: str, line: str, after: str) -> None:
    assert found(model, "Net.forward", line_of(line, after)) == ("Net", function)


@pytest.mark.parametrize("line", ["@torch.compile", "def inner"])
def test_a_decorated_function_that_is_returned(model: Path, line: str) -> None:
    qualname = "build_inner.<locals>.inner"
    assert found(model, qualname, line_of(line, "def build_inner")) == ("build_inner", "build_inner")


@pytest.mark.parametrize("function", ["build_for", "main", "train"])
def test_functions_that_do_something_else_are_not_called(model: Path, function: str) -> None:
    assert found(model, "Net.forward", line_of("torch.compile(Net(", f"def {function}(")) is None


def test_what_a_name_of_the_module_holds(model: Path) -> None:
    assert found(model, "Net.forward", line_of("held =")) == ("held", "")
    assert found(model, "<lambda>", line_of("twice =")) == ("twice", "")


def test_a_factory_in_another_file_of_the_same_folder(model: Path) -> None:
    maker = model.with_name("make.py")
    text = "import torch\nfrom model import Net\ndef build():\n    return torch.compile(Net(3, bias=True))\n"
    maker.write_text("# another text by now\n")
    target = loadable(module_of_file(model), "Net.forward", CompileCall(maker, text, 4))
    assert target is not None
    assert (target.name, target.module, target.factory) == ("model:Net", "model", "make:build")
    text = "import torch\nfrom model import Net\nnet = torch.compile(Net(3, bias=True))\nnet()\n"
    assert loadable(module_of_file(model), "Net.forward", CompileCall(maker, text, 3)) is None


def test_nothing_is_known_of_where_it_was_compiled(model: Path) -> None:
    assert loadable(module_of_file(model), "Net.forward", None) is None
    gone = CompileCall(model.with_name("gone.py"), MODEL, 3)
    assert loadable(module_of_file(model), "Net.forward", gone) is None


def test_the_arguments_that_a_class_needs(model: Path) -> None:
    assert needed_arguments(model, "Net") == ("size", "bias")
    assert needed_arguments(model, "Net.forward") == ("size", "bias")
    assert needed_arguments(model, "Plain") == ()
    assert needed_arguments(model, "step") == ()
