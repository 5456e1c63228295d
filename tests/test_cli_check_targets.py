from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.cli.check_targets import find_target
from gbfix.engine.model import ConfigurationError, SourceError

MODEL = """import torch
from functools import partial as bound

if torch.cuda.is_available():
    def chosen(x):
        return x
else:
    chosen = None

try:
    import fast
except ImportError:
    fast = None


def step(x):
    def inner(y):
        return y
    return inner(x)


class Net(torch.nn.Module):
    def forward(self, x):
        return x

    def encode(self, x):
        return x


with torch.no_grad():
    table = torch.ones(3)
first, (second, *others) = 1, (2, 3)
fast_step: object = torch.compile(step)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    (tmp_path / "pkg" / "model.py").write_text(MODEL)
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n    pass\n")
    (tmp_path / "star.py").write_text("from pkg.model import *\n")
    (tmp_path / "test_it.py").write_text("def test_a():\n    pass\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", ["pkg.model:step", "pkg/model.py:step", "./pkg/model.py:step"])
def test_a_function_by_its_module_or_its_file(root: Path, text: str) -> None:
    target = find_target(text, "", root)
    assert target.name == "pkg.model:step"
    assert (target.file, target.module, target.search) == (str(root / "pkg/model.py"), "pkg.model", str(root))
    assert (target.attribute, target.factory) == ("step", "")


@pytest.mark.parametrize(
    ("attribute", "meant"),
    [("Net", "Net"), ("Net.forward", "Net"), ("Net.__call__", "Net"), ("Net.encode", "Net.encode")],
)
def test_a_module_is_called_by_its_forward(root: Path, attribute: str, meant: str) -> None:
    target = find_target(f"pkg.model:{attribute}", "", root)
    assert (target.name, target.attribute) == (f"pkg.model:{meant}", meant)


@pytest.mark.parametrize("name", ["chosen", "fast", "table", "first", "others", "fast_step", "bound"])
def test_whatever_a_module_binds_when_it_is_imported(root: Path, name: str) -> None:
    assert find_target(f"pkg.model:{name}", "", root).attribute == name


def test_a_module_with_a_star_can_have_anything(root: Path) -> None:
    assert find_target("star:whatever", "", root).attribute == "whatever"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pkg.model:stepp", r"pkg/model\.py: has no stepp at its top level; did you mean step\?"),
        ("pkg.model:Nett.encode", r"did you mean Net\.encode\?"),
        ("pkg.model:inner", r"it defines chosen, step, Net"),
        ("pkg:step", r"pkg/__init__\.py: has no step at its top level; it defines no function and no class"),
        ("pkg.model", "names no function or class; write module:function"),
        ("pkg.model:", "names no function or class"),
        (":step", "names no function or class"),
        ("pkg.model:a b", "is no name of a function"),
        ("gone.py:step", r"^gone\.py: there is no such file"),
        ("gone.py::test_a", r"^gone\.py: there is no such file, whose test gone\.py::test_a would be"),
        ("pkg/model.py::step", r"looks like no test; write pkg/model\.py:step for the function step"),
    ],
)
def test_what_is_not_there_says_what_to_do(root: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        find_target(text, "", root)


def test_a_file_that_does_not_parse_is_named_with_its_line(root: Path) -> None:
    with pytest.raises(SourceError, match=r"^broken\.py:2: not valid Python"):
        find_target("broken:f", "", root)


@pytest.mark.parametrize(
    ("factory", "meant"),
    [("chosen", "chosen"), ("tests.make:net", "tests.make:net"), ("pkg/model.py:step", "pkg.model:step")],
)
def test_a_factory_of_the_same_module_or_another(root: Path, factory: str, meant: str) -> None:
    assert find_target("pkg.model:Net", factory, root).factory == meant


def test_a_factory_that_is_not_there(root: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"pkg/model\.py: has no mak at its top level"):
        find_target("pkg.model:Net", "mak", root)


def test_a_test_is_a_target_without_an_attribute(root: Path) -> None:
    target = find_target("test_it.py::test_a[1]", "", root)
    assert (target.name, target.file, target.search) == ("test_it.py::test_a[1]", str(root / "test_it.py"), str(root))
    assert target.attribute == ""
    with pytest.raises(ConfigurationError, match="leave --factory out"):
        find_target("test_it.py::test_a", "make", root)
