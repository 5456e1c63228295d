"""`gbfix apply --check`: most tests decide with few examples in this process, two run the whole command."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_project import SAFE, UNSAFE, Project

from gbfix.cli import apply_check
from gbfix.cli.apply_check import checked_outcome
from gbfix.cli.choices import chosen_rules
from gbfix.cli.evidence_use import evidence_for
from gbfix.cli.inputs import read_inputs
from gbfix.cli.outcome import FileOutcome
from gbfix.cli.run import Request
from gbfix.engine.config import Settings as Configuration
from gbfix.engine.model import Discharge, Finding, Safety
from gbfix.equivalence import pool
from gbfix.equivalence.model import Settings

WRITTEN = "z = torch.where(x.sum() > 0, x * 2.0, x + 1.0)"
EAGER = UNSAFE.replace("@torch.compile", '@torch.compile(backend="eager")')
ANOTHER = EAGER.replace("import torch\n", "")
OTHER = ANOTHER.replace("def f(x)", "def other(x, y)").replace("x + 1.0", "y + 1.0")
SEVERAL = EAGER + ANOTHER.replace("def f(x)", 'def strange(x: "Unknown")') + OTHER
HELPERS = """import torch


def seldom(x):
    if x.max() > 1000:
        z = x * 2.0
    else:
        z = x + 1.0
    return z


def often(x):
    if x.sum() > 0:
        z = x * 2.0
    else:
        z = x + 1.0
    return z


@torch.compile(backend="eager")
@torch.no_grad()
def f(x):
    return often(x) + seldom(torch.sigmoid(x))
"""
RUN = """import torch

import model

for sign in (1.0, -1.0, 2.0):
    model.f(torch.ones(3) * sign)
"""
NET = """import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def inner(self, x):
        if x.max() > 1:
            z = x * 2.0
        else:
            z = x + 1.0
        return z

    @torch.compile(backend="eager")
    @torch.no_grad()
    def forward(self, x):
        if x.sum() > 0:
            z = x * self.scale
        else:
            z = x + 1.0
        return self.inner(z)
"""


def decided(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str = "model.py", *, unsafe: bool = False
) -> FileOutcome:
    """What would be written to a file, by checks with few examples."""
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(apply_check, "Settings", lambda **_: Settings(examples=10, compiled_examples=2))
    configuration = Configuration(unsafe=unsafe)
    request = Request(chosen_rules(configuration), edit=True, unsafe=unsafe, report_unused=False)
    inputs = read_inputs([name], configuration)
    (file,) = checked_outcome(inputs, request, evidence_for(inputs, None, ignored=False).recorded).files
    return file


def by_function(file: FileOutcome) -> dict[str, Finding]:
    return {entry.finding.function: entry.finding for entry in (*file.applied, *file.remaining)}


def last(finding: Finding) -> tuple[Discharge, str]:
    """How it was decided."""
    return finding.obligations[-1].discharge, finding.obligations[-1].reason


@pytest.fixture
def checks_made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The targets for which a process is started."""
    made: list[str] = []
    host = pool._Host.__init__

    def counting(self: object, number: int, job: object, *arguments: object, **others: object) -> None:
        made.append(job.target.name)  # type: ignore[attr-defined]
        host(self, number, job, *arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(pool._Host, "__init__", counting)
    return made


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-",), 'error: --check runs the program, so that it needs files; "-" cannot be given with it'),
        (("--interactive",), "error: --check decides for each fix by itself, so that --interactive cannot be given"),
        (("--overlay", "--dry-run"), "error: --overlay"),
        (("gone.py",), "error: gone.py"),
    ],
)
def test_what_cannot_be_given_with_it(project: Project, arguments: tuple[str, ...], message: str) -> None:
    project.write("model.py", SAFE)
    done = project.gbfix("apply", "--check", *arguments)
    assert done.code == 2
    assert message in done.err
    assert project.read("model.py") == SAFE
    assert not (project.root / ".gbfix").exists()


def test_the_command_prints_exactly_the_patch_and_writes_what_it_checked(project: Project) -> None:
    project.write("model.py", EAGER)
    project.commit()
    done = project.gbfix("apply", "--check", "--dry-run")
    assert done.code == 1
    assert "  checked   condition is a tensor " in done.err
    assert "1 fix would be applied in 1 file" in done.err
    assert project.read("model.py") == EAGER
    assert project.git("apply", stdin=done.out.encode()).code == 0
    written = project.read("model.py")
    assert WRITTEN in written
    project.git("checkout", "--quiet", ".")
    assert project.gbfix("apply", "--check").code == 0
    assert project.read("model.py") == written
    assert "(checked earlier)" in project.gbfix("check", "model:f").out


def test_a_file_that_cannot_be_written_is_not_checked(project: Project) -> None:
    project.write("model.py", SAFE)
    project.commit()
    project.write("model.py", f"{SAFE}x = 1\n")
    done = project.gbfix("apply", "--check")
    assert done.code == 2
    assert "error: model.py: " in done.err
    assert not (project.root / ".gbfix").exists()


def test_each_fix_of_a_file_is_decided_by_itself(
    project: Project, monkeypatch: pytest.MonkeyPatch, checks_made: list[str]
) -> None:
    project.write("model.py", SEVERAL)
    file = decided(project, monkeypatch)
    said = by_function(file)
    assert file.after == SEVERAL.replace(
        SEVERAL[SEVERAL.index("    if") : SEVERAL.index("    return")], f"    {WRITTEN}\n", 1
    )
    assert {name: finding.safety for name, finding in said.items()} == {
        "f": Safety.SAFE,
        "strange": Safety.REFUSED,
        "other": Safety.REFUSED,
    }
    assert Discharge.CHECKED in {obligation.discharge for obligation in said["f"].obligations}
    assert last(said["f"])[1].endswith(" examples of model:f")
    assert last(said["strange"])[1] == "not tested: nothing tells how to make the argument 'x' (Unknown)"
    assert said["strange"].advice == "`gbfix check model:strange` tells more, and takes --inputs and --factory"
    assert last(said["other"])[0] is Discharge.VIOLATED
    assert " differs" in last(said["other"])[1]
    assert "\n" not in last(said["other"])[1]
    assert len(last(said["other"])[1]) < 300
    program = ".gbfix/counterexamples/model.other.py"
    assert said["other"].advice == f"`python {program}` shows the difference"
    assert (project.root / program).is_file()
    # Where a fix did not pass, the other ways are checked as well.
    assert sorted(set(checks_made)) == ["model:f", "model:other", "model:strange"]


def test_a_fix_that_differs_does_not_hold_up_another_in_the_same_target(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = "\n\n@torch.compile(backend='eager')\n@torch.no_grad()\ndef g(x, y):\n    return f(x), other(x, y)\n"
    project.write("model.py", SEVERAL.replace('@torch.compile(backend="eager")\n', "") + entry)
    file = decided(project, monkeypatch)
    assert [entry.finding.function for entry in file.applied] == ["f"]
    assert by_function(file)["other"].safety is Safety.REFUSED


def test_helpers_that_the_recorded_entry_reaches_in_part(
    project: Project, monkeypatch: pytest.MonkeyPatch, checks_made: list[str]
) -> None:
    project.write("model.py", HELPERS)
    project.write("main.py", RUN)
    assert project.gbfix("trace", "--", "main.py").code == 0
    file = decided(project, monkeypatch, unsafe=True)
    said = by_function(file)
    assert file.after.count("torch.where") == 2, [last(each) for each in said.values()]
    assert last(said["often"])[1].endswith(" examples of model:f")
    assert last(said["seldom"])[1].endswith(" examples of model:seldom")
    assert sorted(checks_made) == ["model:f", "model:seldom"]


def test_methods_of_a_module_in_a_package_behind_a_link(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("library/__init__.py", "")
    project.write("library/nn/__init__.py", "")
    project.write("library/nn/model.py", NET.replace("import torch\n", "import torch\n\nfrom .. import nn\n"))
    Path(project.root, "linked").symlink_to(project.root / "library")
    said = by_function(decided(project, monkeypatch, "linked/nn/model.py", unsafe=True))
    assert set(said) == {"Net.inner", "Net.forward"}
    for finding in said.values():
        assert last(finding)[0] is Discharge.CHECKED, last(finding)
        assert " examples of library.nn.model:Net" in last(finding)[1]


def test_a_file_that_is_no_module_is_not_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("a.b.py", EAGER)
    file = decided(project, monkeypatch, "a.b.py")
    assert not file.applied
    assert last(by_function(file)["f"])[1] == "not tested: a.b.py: cannot be imported under this name"
