"""Every state that a repository can be in: only files with uncommitted changes are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_project import SAFE, Project
from killing import gbfix

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def written_and_restored(project: Project, name: str = "a.py", *options: str) -> None:
    done = gbfix(project.root, "apply", *options, name)
    assert (done.code, done.err) == (0, "")
    assert "torch.where" in project.read(name)
    assert gbfix(project.root, "undo").code == 0
    assert project.read(name) == SAFE


def refused(project: Project, name: str = "a.py") -> None:
    before = project.read(name)
    done = gbfix(project.root, "apply", name)
    assert (done.code, project.read(name)) == (2, before)
    assert f"{name}: has uncommitted changes; commit or stash them, or pass --allow-dirty" in done.err


def test_without_commits_only_what_is_staged_is_refused(project: Project) -> None:
    project.write("a.py", SAFE)
    written_and_restored(project)
    project.git("add", "a.py")
    refused(project)
    written_and_restored(project, "a.py", "--allow-dirty")


@pytest.mark.parametrize("kind", ["detached", "worktree", "sparse", "inner", "submodule"])
def test_clean_files_are_written_and_changed_ones_are_not(project: Project, kind: str) -> None:
    project.write("a.py", SAFE)
    project.write("left_out/b.py", SAFE)
    project.commit()
    where = project
    if kind == "detached":
        assert project.git("checkout", "--quiet", "--detach").code == 0
    elif kind == "worktree":
        assert project.git("worktree", "add", "--quiet", "../tree").code == 0
        where = Project(project.root.parent / "tree")
    elif kind == "sparse":
        assert project.git("sparse-checkout", "set", "--no-cone", "/a.py").code == 0
        assert not (project.root / "left_out").exists()
        assert gbfix(project.root, "scan").err == ""
    elif kind == "inner":
        where = Project(project.root / "inner")
        where.write("a.py", SAFE)
        where.git("init", "--quiet")
        where.commit()
    else:
        again = Project(project.root.parent / "outer")
        again.root.mkdir()
        again.git("init", "--quiet")
        allowed = ("-c", "protocol.file.allow=always")
        assert again.git(*allowed, "submodule", "--quiet", "add", str(project.root), "inner").code == 0
        again.commit()
        where = Project(again.root / "inner")
    written_and_restored(where)
    outer = Project(where.root.parent)
    if kind in ("inner", "submodule"):
        written_and_restored(outer, "inner/a.py")
    where.write("a.py", SAFE + "# mine\n")
    refused(where)
    if kind in ("inner", "submodule"):
        refused(outer, "inner/a.py")


def without_git() -> None:
    os.environ["PATH"] = ""


def test_without_git_nothing_tells_whether_a_file_is_clean(project: Project) -> None:
    project.write("a.py", SAFE)
    project.commit()
    done = gbfix(project.root, "apply", first=without_git)
    assert (done.code, project.read("a.py")) == (2, SAFE)
    assert "a.py: cannot tell whether it has uncommitted changes" in done.err
    assert gbfix(project.root, "scan", first=without_git).code == 1
    assert gbfix(project.root, "apply", "--allow-dirty", first=without_git).code == 0


@pytest.mark.parametrize("broken", ["HEAD", "index", "config", "file"])
def test_a_broken_repository_is_said_to_be_one(project: Project, broken: str) -> None:
    project.write("a.py", SAFE)
    project.commit()
    git: Path = project.root / ".git"
    if broken == "file":
        git.rename(project.root.parent / "elsewhere")
        git.write_text("gitdir: ../nowhere\n")
    else:
        (git / broken).write_bytes(b"\0broken")
    done = gbfix(project.root, "apply")
    assert (done.code, project.read("a.py")) == (2, SAFE)
    assert "a.py: cannot tell whether it has uncommitted changes" in done.err
    assert len(done.err.splitlines()) == 1
    written_and_restored(project, "a.py", "--allow-dirty")
