"""The examples run, and gbfix says of each what its docstring says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_project import Project

FOLDER = Path(__file__).resolve().parent.parent / "examples"
OUTPUT = {
    "guarded_division": "tensor([ 0.,  4.,  8., 12.])\ntensor([ 1.,  0., -1., -2.])\n",
    "item_arithmetic": "tensor([-1.5000, -0.5000,  0.5000,  1.5000])\n",
    "print_between": "halfway\ntensor([1., 3., 5., 7.])\n",
    "scalar_branch": "tensor([0., 2., 4., 6.])\ntensor([ 1.,  0., -1., -2.])\n",
    "shape_branch": "tensor([ 0.,  2.,  4.,  6.,  8., 10.])\ntensor([1., 2., 3., 4.])\n",
    "shape_report": "gram: (3, 3)\ntensor([[ 0.5000,  1.5000,  2.5000],\n        [ 1.5000,  6.5000, 11.5000],\n"
    "        [ 2.5000, 11.5000, 20.5000]])\n",
    "two_sizes": "tensor([0.0000, 0.5000, 1.0000, 1.5000])\ntensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000])\n",
}
TRAINING = "train_transformer"  # see test_example_training
EXAMPLES = [FOLDER / f"{name}.py" for name in OUTPUT]


RUN_ALL = """
import contextlib, io, json, runpy, sys, torch
printed = []
for program in sys.argv[1:]:
    torch._dynamo.reset()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(program, run_name="__main__")
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


@pytest.fixture
def examples(project: Project) -> Project:
    for path in EXAMPLES:
        project.write(path.name, path.read_bytes())
    project.commit()
    return project


def test_there_are_no_others() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*OUTPUT, TRAINING}


def test_an_example_prints_the_same_before_and_after(examples: Project) -> None:
    examples.gbfix("apply")
    fixed = [examples.root / path.name for path in EXAMPLES if examples.read(path.name) != path.read_text()]
    assert fixed
    programs = [*EXAMPLES, *fixed]
    command = [sys.executable, "-c", RUN_ALL, *map(str, programs)]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert dict(zip(programs, printed, strict=True)) == {program: OUTPUT[program.stem] for program in programs}


def test_the_scalar_branch_is_fixed_safely(examples: Project) -> None:
    patch = examples.gbfix("apply", "--dry-run", "scalar_branch.py").out
    assert "+    y = torch.where(" in patch


def test_the_guarded_division_is_not_touched_because_of_the_division(examples: Project) -> None:
    done = examples.gbfix("apply", "--dry-run", "guarded_division.py")
    assert done.out == ""
    (row,) = (line for line in done.err.splitlines() if "the side not taken cannot fail or warn" in line)
    assert row.split()[0] in ("assumed", "violated")
    assert "steps" in row


@pytest.mark.parametrize("name", ["shape_branch.py", "two_sizes.py"])
def test_a_branch_on_a_shape_is_left_alone(examples: Project, name: str) -> None:
    done = examples.gbfix("apply", "--dry-run", "--unsafe", name)
    assert (done.code, done.out) == (0, "")


def test_the_readme_shows_the_real_output(examples: Project) -> None:
    readme = (EXAMPLES[0].parent.parent / "README.md").read_text()
    shown = readme.partition("```diff\n")[2].partition("```")[0]
    patch = examples.gbfix("apply", "--dry-run", "scalar_branch.py").out
    real = [line.rstrip() for line in patch.replace("scalar_branch.py", "examples/scalar_branch.py").splitlines()]
    assert shown.splitlines() == "\n".join(real).rstrip("\n").splitlines()
