from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gbfix.analysis.observations import ValueSpec
from gbfix.cli.check_entries import Entries, FunctionAt, functions_between
from gbfix.cli.check_targets import find_target
from gbfix.evidence.model import ArgumentsSeen, Break, Entry, Evidence, Fragment, Place, Recompile

MODEL = """import torch
from helper import scale


class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()

    def forward(self, x):
        return scale(x)


def step(x):
    def inner(y):
        return y
    return inner(x)


def build():
    return torch.compile(Net(3))
"""
SEEN = ArgumentsSeen({"x": ValueSpec("int", "int", value="3")}, 2)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "helper.py").write_text("def scale(x):\n    return x * 2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def evidence(root: Path) -> Evidence:
    return Evidence(
        str(root),
        entries=(
            Entry("step", Place("model.py", 13, "step"), Place("main.py", 3), arguments=(SEEN,)),
            Entry("step", Place("model.py", 13, "step"), Place("main.py", 9), arguments=(SEEN,)),
            Entry("Net.forward", Place("model.py", 9, "Net.forward"), Place("model.py", 20)),
            Entry("gone", Place("gone.py", 1, "gone"), Place("gone.py", 1)),
            Entry("f.<locals>.g", Place("helper.py", 1, "f.<locals>.g"), Place("main.py", 1)),
            Entry("built in"),
        ),
        fragments=(Fragment("0/0", Place("helper.py", 1, "scale"), 1, "Net.forward"),),
    )


def test_each_compiled_function_of_the_files_that_are_there_once(root: Path) -> None:
    functions = Entries(evidence(root)).functions()
    assert [(function.file.name, function.qualname) for function in functions] == [
        ("model.py", "step"),
        ("model.py", "Net.forward"),
        ("helper.py", "f.<locals>.g"),
    ]
    assert {file.name for file in Entries(evidence(root)).files()} == {"model.py", "helper.py"}


STEP, FORWARD, SCALE = ("model.py", "step"), ("model.py", "Net.forward"), ("helper.py", "scale")


@pytest.mark.parametrize(
    ("changed", "touched"),
    [
        (STEP, {STEP}),
        (("model.py", "step.<locals>.inner"), {STEP}),
        (FORWARD, {FORWARD}),
        (SCALE, {FORWARD}),
        (("model.py", "build"), set()),
        (("helper.py", "step"), set()),
        (("model.py", ""), set()),
    ],
)
def test_what_a_change_touches(root: Path, changed: tuple[str, str], touched: set[tuple[str, str]]) -> None:
    entries = Entries(evidence(root))
    change = FunctionAt(root / changed[0], changed[1])
    found = {(f.file.name, f.qualname) for f in entries.functions() if entries.touched(f, [change])}
    assert found == touched


@pytest.mark.parametrize(
    "site",
    [
        {"breaks": (Break(Place("lib.py", 1, "f"), stack=(Place("helper.py", 2, "scale"),), entries=("step",)),)},
        {"breaks": (Break(Place("lib.py", 1, "f"), project=Place("helper.py", 2, "scale"), entries=("step",)),)},
        {"recompiles": (Recompile(Place("helper.py", 1, "scale"), "n == 1", entries=("step",)),)},
        {"recompiles": (Recompile(Place("a.py", 1), "n", owner=Place("helper.py", 2, "scale"), entries=("step",)),)},
    ],
)
def test_breaks_and_recompiles_say_what_belongs_to_an_entry(root: Path, site: dict[str, object]) -> None:
    entries = Entries(replace(evidence(root), fragments=(), **site))  # type: ignore[arg-type]
    change = FunctionAt(root / "helper.py", "scale")
    assert [f.qualname for f in entries.functions() if entries.touched(f, [change])] == ["step"]


def test_how_an_entry_is_loaded(root: Path) -> None:
    entries = Entries(evidence(root))
    step, forward, inner = map(entries.target, entries.functions())
    assert step.target is not None
    assert (step.name, step.target.attribute, step.target.factory) == ("model:step", "step", "")
    assert forward.target is not None
    assert (forward.name, forward.target.attribute, forward.target.factory) == ("model:Net", "Net", "build")
    assert inner.target is None
    assert inner.name == "helper:f.<locals>.g"
    assert inner.problem.startswith("it is made in a function, so that it cannot be loaded by a name; name it with --f")


def test_an_entry_whose_file_does_not_parse(root: Path) -> None:
    (root / "model.py").write_text("def f(:\n")
    entries = Entries(evidence(root))
    assert "model.py:1: not valid Python" in entries.target(entries.functions()[0]).problem


def test_the_arguments_of_a_target(root: Path) -> None:
    entries = Entries(evidence(root))
    assert entries.seen(find_target("model:step", "", root)) == (SEEN, SEEN)
    assert entries.seen(find_target("model:build", "", root)) == ()


def test_the_functions_between_two_texts() -> None:
    file = Path("/p/m.py")
    before = """import a

@one
def f(x):
    def g():
        return 1
    return g()

class C:
    def m(self):
        pass
"""

    def names(after: str) -> set[str]:
        found = functions_between(file, before, after)
        assert all(function.file == file for function in found)
        return {function.qualname for function in found}

    assert names(before) == set()
    assert names(before.replace("return 1", "return 2")) == {"f.<locals>.g"}
    assert names(before.replace("return g()", "return g() + 1")) == {"f"}
    assert names(before.replace("@one", "@two")) == {"f"}
    assert names(before.replace("        pass", "        x = 1\n        return x")) == {"C.m"}
    assert names(before.replace("import a", "import b")) == {""}
    assert names(before.replace("import a\n", "import a\nimport b\n").replace("return 1", "return 2")) == {
        "",
        "f.<locals>.g",
    }
