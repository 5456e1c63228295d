from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gbfix.analysis.observations import ValueSpec
from gbfix.cli.check_entries import Entries, FunctionAt
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
OTHER = ArgumentsSeen({}, 1)
LIBRARY = Place("lib.py", 1, "f")


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
            Entry("Net.forward", Place("model.py", 9, "Net.forward"), Place("model.py", 20), arguments=(OTHER,)),
            Entry("gone", Place("gone.py", 1, "gone"), Place("gone.py", 1)),
            Entry("f.<locals>.g", Place("helper.py", 1, "f.<locals>.g"), Place("main.py", 1)),
            Entry("built in"),
        ),
        fragments=(Fragment("0/0", Place("helper.py", 1, "scale"), 1, "Net.forward"),),
    )


def entries_of(found: Evidence) -> Entries:
    return Entries(found, lambda file: {"model.py": MODEL}.get(file.name))


def test_each_compiled_function_of_the_files_that_are_there_once(root: Path) -> None:
    functions = entries_of(evidence(root)).functions()
    assert [(function.file.name, function.qualname) for function in functions] == [
        ("model.py", "step"),
        ("model.py", "Net.forward"),
        ("helper.py", "f.<locals>.g"),
    ]
    assert {file.name for file in entries_of(evidence(root)).files()} == {"model.py", "helper.py"}


def test_what_was_compiled_for_an_entry(root: Path) -> None:
    entries = entries_of(evidence(root))
    assert entries.involved(FunctionAt(root / "model.py", "Net.forward")) == {"scale"}
    assert entries.involved(FunctionAt(root / "model.py", "step")) == frozenset()
    assert entries.involved(FunctionAt(root / "model.py", "build")) == frozenset()


@pytest.mark.parametrize(
    ("site", "names"),
    [
        ({"breaks": (Break(LIBRARY, stack=(Place("helper.py", 2, "C.scale"),), entries=("step",)),)}, {"f", "scale"}),
        ({"breaks": (Break(LIBRARY, project=Place("helper.py", 2, "scale"), entries=("step",)),)}, {"f", "scale"}),
        ({"recompiles": (Recompile(Place("a.py", 1), "n", owner=LIBRARY, entries=("step",)),)}, {"f"}),
        ({"recompiles": (Recompile(Place("a.py", 1, "g.<locals>.h"), "n", entries=("step",)),)}, {"h"}),
        ({"breaks": (Break(LIBRARY, entries=("Net.forward",)),)}, set()),
    ],
)
def test_what_broke_or_was_compiled_again_for_an_entry(root: Path, site: dict[str, object], names: set[str]) -> None:
    entries = entries_of(replace(evidence(root), fragments=(), **site))  # type: ignore[arg-type]
    assert entries.involved(FunctionAt(root / "model.py", "step")) == names


def test_how_an_entry_is_loaded(root: Path) -> None:
    entries = entries_of(evidence(root))
    step, forward, inner = map(entries.target, entries.functions())
    assert step.target is not None
    assert (step.name, step.target.attribute, step.target.factory) == ("model:step", "step", "")
    assert forward.target is not None
    assert (forward.name, forward.target.attribute, forward.target.factory) == ("model:Net", "Net", "build")
    assert inner.target is None
    assert inner.name == "helper:f.<locals>.g"
    assert "it cannot be loaded by a name; gbfix check helper:f --factory MODULE:FUNCTION" in inner.problem


def test_where_it_was_compiled_is_looked_up_in_the_text_of_the_run(root: Path) -> None:
    (root / "model.py").write_text("# a line more\n" * 3 + MODEL)
    entries = entries_of(evidence(root))
    forward = entries.target(entries.functions()[1])
    assert forward.target is not None
    assert forward.target.factory == "build"
    unknown = Entries(evidence(root), lambda _file: None)
    problem = unknown.target(unknown.functions()[1]).problem
    assert problem.startswith("Net cannot be built without arguments; gbfix check model:Net --factory MODULE:FUNCTION")


def test_an_entry_whose_file_does_not_parse(root: Path) -> None:
    (root / "model.py").write_text("def f(:\n")
    entries = entries_of(evidence(root))
    assert "model.py:1: not valid Python" in entries.target(entries.functions()[0]).problem


def test_the_arguments_of_a_function(root: Path) -> None:
    entries = entries_of(evidence(root))
    file = root / "model.py"
    assert entries.seen(FunctionAt(file, "step")) == (SEEN, SEEN)
    assert entries.seen(FunctionAt(file, "Net")) == (OTHER,)
    assert entries.seen(FunctionAt(file, "build")) == ()
    assert entries.seen(FunctionAt(root / "helper.py", "step")) == ()
