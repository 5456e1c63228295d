"""`gbfix apply` with what a run showed: used while it is right, said so, and never silently."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import msgspec
import pytest
from cli_project import Project

from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.evidence.model import Entry, Evidence, Place

PROGRAM = """\
import torch


@torch.compile
def choose(x, y):
    if x.sum() > 0:
        z = x + y
    else:
        z = x * y
    return z
"""
DEFAULT = ".gbfix/evidence.json"


def vector(dtype: str = "float32") -> ValueSpec:
    return ValueSpec("tensor", "torch.Tensor", TensorSpec(dtype, (3,), (1,)))


@pytest.fixture
def shown(project: Project) -> Evidence:
    """What a run of the program would show, with one observation at its branch."""
    project.write("choose.py", PROGRAM)
    project.commit()
    seen = Observation("choose.py", 6, "choose", count=4, values={"x": vector(), "y": vector()})
    digest = hashlib.sha256(PROGRAM.encode()).hexdigest()
    return Evidence(str(project.root), observations=(seen,), hashes={"choose.py": digest})


def save(project: Project, document: Evidence, name: str = DEFAULT) -> None:
    project.write(name, msgspec.json.encode(document))


def test_fresh_evidence_of_the_project_is_used_and_said_so(project: Project, shown: Evidence) -> None:
    save(project, shown)
    done = project.gbfix("apply", "choose.py")
    assert done.code == 0
    assert f"note: using what a run showed of 1 file, from {DEFAULT}" in done.err
    assert "observed  both sides are tensors" in done.out
    assert f"compiled: @torch.compile (line 4); seen 4 times, {DEFAULT}" in done.out
    assert "torch.where(x.sum() > 0, x + y, x * y)" in project.read("choose.py")


def test_the_same_fix_is_unsafe_without_evidence(project: Project, shown: Evidence) -> None:
    save(project, shown)
    done = project.gbfix("apply", "--no-evidence", "choose.py")
    assert done.code == 1
    assert project.read("choose.py") == PROGRAM
    assert "note" not in done.err


def test_a_file_that_changed_since_is_looked_at_without_it(project: Project, shown: Evidence) -> None:
    save(project, shown)
    project.write("choose.py", PROGRAM.replace("x + y", "x - y"))
    done = project.gbfix("apply", "--dry-run", "--allow-dirty", "choose.py")
    assert done.code == 1
    assert done.out == ""
    assert f"choose.py changed since {DEFAULT} was recorded: it is not used; run `gbfix trace` again" in done.err


def test_a_named_file_is_used(project: Project, shown: Evidence) -> None:
    save(project, shown, "elsewhere.json")
    done = project.gbfix("apply", "--dry-run", "--evidence", "elsewhere.json", "choose.py")
    assert "+    z = torch.where(x.sum() > 0, x + y, x * y)" in done.out


def test_a_named_file_that_cannot_be_used_is_an_error(project: Project) -> None:
    project.write("choose.py", PROGRAM)
    project.write("broken.json", "{")
    for name in ("missing.json", "broken.json"):
        done = project.gbfix("apply", "--dry-run", "--evidence", name, "choose.py")
        assert done.code == 2
        assert name in done.err
        assert "Traceback" not in done.err


def test_a_broken_default_is_left_out_with_a_note(project: Project) -> None:
    project.write("choose.py", PROGRAM)
    project.write(DEFAULT, "{")
    done = project.gbfix("apply", "--dry-run", "choose.py")
    assert done.code == 1
    assert f"note: evidence is not used: {DEFAULT}" in done.err


def test_named_and_ignored_exclude_each_other(project: Project, shown: Evidence) -> None:
    save(project, shown)
    done = project.gbfix("apply", "--dry-run", "--no-evidence", "--evidence", DEFAULT, "choose.py")
    assert done.code == 2
    assert "exclude each other" in done.err


def test_a_line_of_which_only_the_first_runs_were_watched_says_so(project: Project, shown: Evidence) -> None:
    save(project, replace(shown, settled=(Place("choose.py", 6),)))
    done = project.gbfix("apply", "--dry-run", "choose.py")
    assert f"seen 4 times, later runs were not watched, {DEFAULT}" in done.err


def test_a_line_that_also_ran_unseen_is_not_covered(project: Project, shown: Evidence) -> None:
    save(project, replace(shown, unwatched=(Place("choose.py", 6),)))
    assert project.gbfix("apply", "--dry-run", "choose.py").out == ""


def test_what_the_run_contradicts_is_refused(project: Project, shown: Evidence) -> None:
    (seen,) = shown.observations
    other = replace(seen, values={"x": vector(), "y": vector("float64")})
    program = PROGRAM.replace("x * y", "x * 2")
    project.write("choose.py", program)
    digest = hashlib.sha256(program.encode()).hexdigest()
    save(project, replace(shown, observations=(other,), hashes={"choose.py": digest}))
    done = project.gbfix("apply", "--dry-run", "--unsafe", "choose.py")
    assert done.out == ""
    assert "x + y and x * 2 are float64 and float32" in done.err
    assert "refused" in done.err


def test_a_run_that_did_not_end_in_order_is_named(project: Project, shown: Evidence) -> None:
    save(project, replace(shown, complete=False))
    done = project.gbfix("apply", "--dry-run", "choose.py")
    assert "that run did not end in order" in done.err


def test_a_function_that_only_the_run_shows_to_be_compiled(project: Project, shown: Evidence) -> None:
    program = PROGRAM.replace("@torch.compile\n", "\n")
    project.write("choose.py", program)
    project.commit()
    digest = hashlib.sha256(program.encode()).hexdigest()
    save(project, replace(shown, hashes={"choose.py": digest}))
    done = project.gbfix("apply", "--dry-run", "choose.py")
    assert "compiled: in the observed run" in done.err
    assert "+    z = torch.where(x.sum() > 0, x + y, x * y)" in done.out


def test_a_function_of_which_the_run_shows_no_more_than_that_it_was_compiled(project: Project, shown: Evidence) -> None:
    text = "import copy\n\n\ndef first(x):\n    return copy.copy([x])[0] + 1.0\n"
    project.write("choose.py", text)
    entry = Entry("first", defined=Place("choose.py", 4), calls=3)
    digest = hashlib.sha256(text.encode()).hexdigest()
    save(project, replace(shown, observations=(), entries=(entry,), hashes={"choose.py": digest}))
    done = project.gbfix("apply", "--dry-run", "choose.py")
    assert "+    return [x].copy()[0] + 1.0" in done.out
