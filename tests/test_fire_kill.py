"""A kill at any moment: each file is old or new, and the next command goes on where this one was ended.

A kill leaves on the disk what it holds at that moment, so that the moments of one run are kept as copies of the folder.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_project import SAFE, Project
from killing import Moments, before, gbfix, kill_self

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

FIXED = SAFE.replace(
    """    if x.sum() > 0:
        z = x * 2.0
    else:
        z = x + 1.0
""",
    "    z = torch.where(x.sum() > 0, x * 2.0, x + 1.0)\n",
)
MODES = {"a.py": 0o755, "sub/b.py": 0o600}


@pytest.fixture
def project(project: Project) -> Project:
    """A repository with two files that have something to fix."""
    for name, mode in MODES.items():
        project.write(name, SAFE).chmod(mode)
    project.commit()
    return project


def states(project: Project, *words: str, allowed: set[str]) -> Iterator[Path]:
    """Every different state of the folder that a kill of a command can leave, and the one that it leaves when done.

    In each, both files hold one of the `allowed` texts and have their modes.
    """
    root = project.root
    folder = root.with_name("states")

    def keep(number: int, _event: str = "", _arguments: tuple[object, ...] = ()) -> None:
        shutil.copytree(root, folder / str(number), symlinks=True)

    moments = Moments(keep)
    done = gbfix(root, *words, moments=moments)
    assert done.code in (0, 1), done.err
    keep(1000)
    shutil.rmtree(root)
    known: set[frozenset[tuple[str, bytes]]] = set()
    kept = sorted(folder.iterdir(), key=lambda state: int(state.name))
    for state in kept:
        state.rename(root)
        for name, mode in MODES.items():
            assert project.read(name) in allowed
            assert stat.S_IMODE((root / name).stat().st_mode) == mode
        contents = frozenset(what_is_in(root))
        if contents not in known:
            known.add(contents)
            yield root
        shutil.rmtree(root)
    assert len(known) > 2


def what_is_in(root: Path) -> Iterator[tuple[str, bytes]]:
    """The files outside of git's folder; of what is unfinished, and has a random name, only that it is there."""
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if not name.startswith(".git/"):
            known = re.sub(r"(\.gbfix-|unfinished-).*", r"\1", name)
            yield known, path.read_bytes() if path.is_file() and known == name else b""


def clean_names(root: Path) -> set[str]:
    return {path.name for path in root.rglob("*") if ".git" not in path.parts and ".gbfix" not in path.parts}


def test_a_kill_leaves_what_the_disk_holds(project: Project) -> None:
    """What the other tests rely on."""
    begun = project.root.with_name("begun")
    shutil.copytree(project.root, begun)
    states_of_apply = {frozenset(what_is_in(root)) for root in states(project, "apply", allowed={SAFE, FIXED})}
    for number in range(8, 33, 5):
        shutil.copytree(begun, project.root, symlinks=True)
        assert gbfix(project.root, "apply", moments=before(number, kill_self)).code == -signal.SIGKILL
        assert frozenset(what_is_in(project.root)) in states_of_apply
        shutil.rmtree(project.root)


def test_undo_and_apply_after_a_killed_apply(project: Project) -> None:
    mixtures = set()
    for root in states(project, "apply", allowed={SAFE, FIXED}):
        written = [name for name in MODES if project.read(name) == FIXED]
        mixtures.add(len(written))
        shutil.copytree(root, root.with_name("killed"))
        done = gbfix(root, "undo")
        if written:
            assert (done.code, done.out) == (0, "".join(f"restored {name}\n" for name in written))
        else:
            nothing = "the files of the last apply already have their old contents; its record is removed\n"
            assert (done.code, done.out, done.err) in [(0, nothing, ""), (2, "", f"error: {root}: nothing to undo\n")]
        assert [project.read(name) for name in MODES] == [SAFE, SAFE]
        assert project.git("status", "--porcelain").out in ("", f"?? {unfinished_in(root)}\n")
        shutil.rmtree(root)
        root.with_name("killed").rename(root)
        done = gbfix(root, "apply")
        assert (done.code, done.err) == (0, "")
        assert [project.read(name) for name in MODES] == [FIXED, FIXED]
        # A part that a first apply has written is part of its own record.
        for _ in range(1 if len(written) != 1 else 2):
            gbfix(root, "undo")
        assert [project.read(name) for name in MODES] == [SAFE, SAFE]
        assert clean_names(root) == {"a.py", "b.py", "sub"}
    assert mixtures == {0, 1, 2}


def unfinished_in(root: Path) -> str:
    return next((path.relative_to(root).as_posix() for path in root.rglob(".gbfix-*.tmp")), "")


def test_undo_again_finishes(project: Project) -> None:
    assert gbfix(project.root, "apply").code == 0
    for root in states(project, "undo", allowed={SAFE, FIXED}):
        done = gbfix(root, "undo")
        assert done.code == 0 or "nothing to undo" in done.err
        assert [project.read(name) for name in MODES] == [SAFE, SAFE]
        done = gbfix(root, "apply")
        assert (done.code, done.err) == (0, "")
        assert clean_names(root) == {"a.py", "b.py", "sub"}


def test_the_overlay_is_old_or_new_or_said_to_be_unusable(project: Project) -> None:
    for root in states(project, "apply", "--overlay", allowed={SAFE}):
        done = gbfix(root, "apply", "--overlay")
        assert (done.code, done.err) == (0, "")
        overlay = root / ".gbfix" / "overlay"
        files = {path.relative_to(overlay).as_posix() for path in overlay.rglob("*") if path.is_file()}
        assert files == {*MODES, "manifest.json"}
        assert [(overlay / name).read_text() for name in MODES] == [FIXED, FIXED]


def test_a_patch_is_old_or_new(project: Project) -> None:
    patch = project.root / "fixes.patch"
    patch.write_text("old\n")
    seen = set()
    for root in states(project, "apply", "--patch", "fixes.patch", allowed={SAFE}):
        text = patch.read_text()
        seen.add(text == "old\n")
        if text != "old\n":
            assert project.git("apply", "fixes.patch").code == 0
            assert [project.read(name) for name in MODES] == [FIXED, FIXED]
        else:
            assert gbfix(root, "apply", "--patch", "fixes.patch").code == 1
            assert project.git("apply", "--check", "fixes.patch").code == 0
    assert seen == {True, False}


def test_a_new_patch_is_whole_or_not_there(project: Project) -> None:
    patch = project.root / "fixes.patch"
    seen = set()
    for _ in states(project, "apply", "--patch", "fixes.patch", allowed={SAFE}):
        seen.add(patch.exists())
        if patch.exists():
            assert project.git("apply", "--check", "fixes.patch").code == 0
    assert seen == {True, False}
