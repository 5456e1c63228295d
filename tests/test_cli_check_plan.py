from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from cli_project import Project

from gbfix.cli.check_plan import Planned, Planner, Wanted, nothing_to_check
from gbfix.cli.check_sources import Asked
from gbfix.cli.check_versions import Change, Changes, Version
from gbfix.engine.model import ConfigurationError, Finding, GbfixError, Span
from gbfix.equivalence.model import Settings
from gbfix.evidence.hashes import file_hash
from gbfix.evidence.model import ArgumentsSeen, Entry, Evidence, Fragment, Place

MODEL = """import torch
from helper import scale


def step(x):
    return scale(x)


def other(x):
    return 1


class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()

    def forward(self, x):
        return 1
"""
HELPER = "def scale(x):\n    return 1\n"
TEST = "from model import step\n\n\ndef test_step():\n    assert step(1) == 1\n"
WANTED = Wanted(Settings(seed=3))


@pytest.fixture
def root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    project.write("model.py", MODEL)
    project.write("helper.py", HELPER)
    project.write("unrelated.py", HELPER)
    project.write("tests/test_it.py", TEST)
    project.write("conftest.py", "")
    project.commit()
    monkeypatch.chdir(project.root)
    return Path(os.path.realpath(project.root))


class Pending:
    """Stands for the search for fixes: in each of these files every `return 1` becomes `return 2`."""

    def __init__(self, *files: Path) -> None:
        self._files = files
        self.asked: set[Path] = set()

    def __call__(self, files: Iterable[Path]) -> Changes:
        self.asked |= set(files)
        finding = Finding("GBF101", "n", Span(2, 0, 2, 1), "m", "scale", "r")
        return {
            file: Change(
                Version(file.read_text()), Version(file.read_text().replace("return 1", "return 2"), ""), (finding,)
            )
            for file in self._files
        }


def planned(root: Path, wanted: Wanted, *pending: str, evidence: Evidence | None = None) -> tuple[Planned, ...]:
    return Planner(wanted, root, evidence, Pending(*(root / name for name in pending))).plans()


def changed(plan: Planned) -> set[str]:
    assert plan.job is not None
    assert plan.job.original.keys() == plan.job.rewritten.keys()
    return {Path(file).name for file in plan.job.original}


def test_what_is_pending_in_the_files_that_a_target_reaches(root: Path) -> None:
    wanted = replace(WANTED, targets=("model:step",))
    (plan,) = planned(root, wanted, "helper.py", "unrelated.py", "model.py")
    assert plan.job is not None
    assert changed(plan) == {"helper.py"}
    assert plan.job.rewritten[str(root / "helper.py")] == HELPER.replace("1", "2")
    assert plan.job.fixes == ("helper.py:2 GBF101",)
    assert (plan.job.settings, plan.versions) == (WANTED.settings, "original: disk; rewritten: 1 pending fix")


def test_the_targets_file_is_looked_at_wherever_it_lies(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("def f(x):\n    return 1\n")
    pending = Pending(outside)
    (plan,) = Planner(replace(WANTED, targets=(f"{outside}:f",)), root, None, pending).plans()
    assert pending.asked == {outside}
    assert changed(plan) == {"outside.py"}


def test_what_was_applied_when_nothing_is_pending(root: Path) -> None:
    (root / "helper.py").write_text(HELPER.replace("1", "2"))
    (plan,) = planned(root, replace(WANTED, targets=("model:step",)), "unrelated.py")
    assert plan.job is not None
    assert plan.job.original == {str(root / "helper.py"): HELPER}
    assert plan.versions == "original: git HEAD; rewritten: disk"


def test_nothing_differs(root: Path) -> None:
    plans = planned(root, replace(WANTED, targets=("model:step", "model:other")), "unrelated.py")
    assert plans == (Planned("model:step"), Planned("model:other"))
    nothing = nothing_to_check(plans, Asked(), unsafe=False)
    assert nothing.startswith("model:step, model:other: nothing to check: no fix is pending")
    assert "; --unsafe adds the fixes that assume something, --original names" in nothing
    assert nothing_to_check((), Asked(), unsafe=True).endswith("; --original names an earlier version")
    assert "both versions are the same" in nothing_to_check((), Asked("HEAD"), unsafe=False)
    assert nothing_to_check((Planned("a", problem="p"),), Asked(), unsafe=False) == ""


def test_a_class_that_needs_arguments_says_so_unless_the_run_shows_who_makes_it(root: Path) -> None:
    wanted = replace(WANTED, targets=("model:Net",))
    (plan,) = planned(root, wanted, "model.py")
    assert plan.job is None
    assert plan.problem.startswith("Net needs arguments to be built (size); name with --factory module:function")
    (plan,) = planned(root, replace(wanted, factory="other"), "model.py")
    assert plan.job is not None
    assert plan.job.target.factory == "other"
    (root / "make.py").write_text("import model, torch\ndef build():\n    return torch.compile(model.Net(3))\n")
    entry = Entry("Net.forward", Place("model.py", 16, "Net.forward"), Place("make.py", 3))
    evidence = Evidence(str(root), entries=(entry,), hashes={"make.py": str(file_hash(root / "make.py"))})
    (plan,) = planned(root, wanted, "model.py", evidence=evidence)
    assert plan.job is not None
    assert (plan.name, plan.job.target.factory) == ("model:Net", "make:build")


def test_without_targets_those_of_the_run_that_a_change_touches(root: Path) -> None:
    seen = ArgumentsSeen({}, 4)
    entries = (
        Entry("step", Place("model.py", 5, "step"), arguments=(seen,)),
        Entry("other", Place("model.py", 9, "other")),
        Entry("Net.forward", Place("model.py", 16, "Net.forward")),
    )
    evidence = Evidence(str(root), entries=entries)
    (plan,) = planned(root, WANTED, "helper.py", evidence=evidence)
    assert plan.job is not None
    assert (plan.name, plan.job.seen) == ("model:step", (seen,))
    plans = planned(root, WANTED, "model.py", evidence=evidence)
    assert [(plan.name, plan.job is None) for plan in plans] == [("model:Net.forward", True), ("model:other", False)]
    # What a run shows to belong to an entry counts, whatever the source mentions.
    fragments = (Fragment("0/0", Place("unrelated.py", 1, "scale"), 1, "other"),)
    plans = planned(root, WANTED, "unrelated.py", evidence=replace(evidence, fragments=fragments))
    assert "model:other" in [plan.name for plan in plans]


def test_the_hash_of_the_run_tells_the_original(root: Path, project: Project) -> None:
    digest = file_hash(root / "helper.py")
    (root / "helper.py").write_text(HELPER.replace("1", "2"))
    project.commit()
    assert digest is not None
    evidence = Evidence(str(root), hashes={"helper.py": digest})
    (plan,) = planned(root, replace(WANTED, targets=("model:step",)), evidence=evidence)
    assert plan.versions.startswith("original: as it was when the run was recorded (git ")


def test_without_targets_and_without_a_run_there_is_nothing_to_go_by(root: Path) -> None:
    with pytest.raises(ConfigurationError, match="nothing says what to check: name a target"):
        planned(root, WANTED)
    with pytest.raises(ConfigurationError, match="no compiled function of the recorded run is in a file here"):
        planned(root, WANTED, evidence=Evidence(str(root), entries=(Entry("f", Place("gone.py", 1)),)))


def test_versions_that_the_user_names_are_the_only_ones(root: Path) -> None:
    (root / "old.py").write_text(MODEL.replace("return scale(x)", "return x"))
    (plan,) = planned(root, replace(WANTED, targets=("model:step",), versions=Asked("old.py")), "helper.py")
    assert changed(plan) == {"model.py"}
    assert plan.versions == "original: old.py; rewritten: disk"
    (plan,) = planned(root, replace(WANTED, targets=("model:other",), versions=Asked("old.py")), "helper.py")
    assert plan.job is None
    with pytest.raises(GbfixError, match="there is no overlay here"):
        planned(root, replace(WANTED, targets=("model:step",), versions=Asked(overlay=True)))


def test_a_test_of_the_project_reaches_what_it_imports(root: Path) -> None:
    wanted = replace(WANTED, targets=("tests/test_it.py::test_step",))
    (plan,) = planned(root, wanted, "model.py", "unrelated.py")
    assert plan.job is not None
    assert (plan.job.target.name, plan.job.target.attribute) == ("tests/test_it.py::test_step", "")
    assert changed(plan) == {"model.py"}
    assert plan.key == ""
    (root / "conftest.py").write_text("import unrelated\n")
    (plan,) = planned(root, wanted, "model.py", "unrelated.py")
    assert changed(plan) == {"model.py", "unrelated.py"}


def test_the_key_covers_the_files_that_do_not_change(root: Path) -> None:
    wanted = replace(WANTED, targets=("model:step",), inputs="inputs:calls")
    (root / "inputs.py").write_text("calls = []\n")
    (first,) = planned(root, wanted, "helper.py")
    (same,) = planned(root, wanted, "helper.py")
    assert first.key == same.key != ""
    (root / "inputs.py").write_text("calls = [1]\n")
    (second,) = planned(root, wanted, "helper.py")
    (root / "model.py").write_text(MODEL + "# more\n")
    (third,) = planned(root, wanted, "helper.py")
    assert len({first.key, second.key, third.key}) == 3


def test_a_saved_module_says_nothing_of_a_fix_to_how_it_is_built(root: Path) -> None:
    net = "class N:\n    def __init__(self, n):\n        self.n = {}\n\n    def forward(self, x):\n        return {}\n"
    file, saved = root / "nets.py", root / "net.pt"
    file.write_text(net.format(1, 1))
    saved.touch()
    at = Place("nets.py", 5, "N.forward")
    entry = Entry("N.forward", at, None, arguments=(ArgumentsSeen({}),), saved=str(saved))
    evidence = Evidence(str(root), entries=(entry,))

    def plan_for(rewritten: str) -> Planned:
        changes = {file: Change(Version(file.read_text()), Version(rewritten, ""), ())}
        (plan,) = Planner(WANTED, root, evidence, lambda _files: changes).plans()
        return plan

    inside = plan_for(net.format(1, 2))
    assert inside.job is not None
    assert inside.job.target.saved == str(saved)
    assert "a fix changes an __init__ of" in plan_for(net.format(2, 1)).problem
