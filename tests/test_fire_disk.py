"""A disk that is full, files and folders that may not be written: the file is old, and the message names it."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import libcst
import pytest
from cli_project import SAFE, Project
from killing import Moments, before, gbfix

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
NOBODY = 65534
LONG = SAFE + "# a comment\n" * 3000
"""About 36,000 bytes."""


def limit_file_size(size: int) -> Moments:
    """From the first change of the disk on no file can grow beyond this many bytes, as on a disk that is full."""

    def limit(number: int, _event: str, _arguments: tuple[object, ...]) -> None:
        if number == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return Moments(limit)


@pytest.fixture
def project(project: Project) -> Project:
    project.write("a.py", SAFE)
    project.write("long.py", LONG)
    return project


def names(project: Project) -> set[str]:
    return {path.name for path in project.root.iterdir()} - {".git", ".gbfix"}


def test_a_record_that_does_not_fit(project: Project) -> None:
    done = gbfix(project.root, "apply", moments=limit_file_size(20_000))
    assert done.code == 2
    record = f"{project.root}/.gbfix/undo: the undo record cannot be written: File too large"
    assert done.err == f"error: {record}\n"
    assert (project.read("a.py"), project.read("long.py")) == (SAFE, LONG)
    done = gbfix(project.root, "apply")
    assert done.code == 0
    assert os.listdir(project.root / ".gbfix" / "undo") == ["00000001"]


def test_a_file_that_does_not_fit(project: Project) -> None:
    """The copy of the first file is written, that of the long one is not."""

    def limit(_number: int, event: str, arguments: tuple[object, ...]) -> None:
        if event == "os.rename" and str(arguments[1]).endswith("a.py"):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = gbfix(project.root, "apply", moments=Moments(limit))
    assert done.code == 2
    reason = "cannot be written: File too large; the files already written were put back"
    assert done.err == f"error: {project.root}/long.py: {reason}\n"
    assert (project.read("a.py"), project.read("long.py")) == (SAFE, LONG)
    assert names(project) == {"a.py", "long.py"}
    assert gbfix(project.root, "undo").code == 2


def test_an_undo_that_does_not_fit_leaves_its_record(project: Project) -> None:
    assert gbfix(project.root, "apply").code == 0
    fixed = project.read("long.py")
    done = gbfix(project.root, "undo", moments=limit_file_size(20_000))
    assert done.code == 2
    assert f"{project.root}/long.py: cannot be written: File too large" in done.err
    assert project.read("long.py") == fixed
    assert names(project) == {"a.py", "long.py"}
    assert gbfix(project.root, "undo").code == 0
    assert (project.read("a.py"), project.read("long.py")) == (SAFE, LONG)


@pytest.mark.parametrize("old", ["old\n", None])
def test_a_patch_that_does_not_fit(project: Project, old: str | None) -> None:
    patch = project.root / "fixes.patch"
    if old is not None:
        patch.write_text(old)
    done = gbfix(project.root, "apply", "--patch", "fixes.patch", moments=limit_file_size(100))
    assert (done.code, done.err) == (2, "error: fixes.patch: the patch cannot be written: File too large\n")
    assert (patch.read_text() if patch.exists() else None) == old
    assert names(project) == {"a.py", "long.py"} | ({"fixes.patch"} if old else set())


def test_a_copy_that_does_not_fit(project: Project) -> None:
    assert gbfix(project.root, "apply", "--overlay", "a.py").code == 0
    overlay = project.root / ".gbfix" / "overlay"
    before_it = {path.name: path.read_bytes() for path in overlay.iterdir()}
    done = gbfix(project.root, "apply", "--overlay", "long.py", moments=limit_file_size(20_000))
    assert (done.code, done.err) == (2, f"error: {overlay}: the overlay cannot be written: File too large\n")
    assert {path.name: path.read_bytes() for path in overlay.iterdir()} == before_it


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full(small_disk: Path) -> None:
    project = Project(small_disk)
    project.write("a.py", SAFE)
    project.write("long.py", LONG)
    filler = small_disk / "filler"
    full = {}
    for free in (0, 40_000, 70_000, 90_000):
        space = os.statvfs(small_disk)
        filler.write_bytes(b"x" * max(space.f_bavail * space.f_frsize - free, 0))
        done = gbfix(project.root, "apply")
        full[free] = done.code
        if done.code:
            assert done.code == 2
            assert "No space left on device" in done.err
            assert len(done.err.splitlines()) == 1
            assert (project.read("a.py"), project.read("long.py")) == (SAFE, LONG)
            assert names(project) == {"a.py", "long.py", "filler"}
        filler.unlink()
        gbfix(project.root, "undo")
    assert full[0] == 2


@pytest.fixture
def foreign(project: Project) -> Iterator[Project]:
    """A project of which somebody else, who runs gbfix, may only read."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    closed = [folder for folder in Path(libcst.__file__).parents if not folder.stat().st_mode & stat.S_IXOTH]
    if closed:
        pytest.skip(f"nobody else may read {closed[0]}, where the packages are")
    opened = [path for path in project.root.parents if not path.stat().st_mode & stat.S_IXOTH]
    for path in opened:
        path.chmod(path.stat().st_mode | stat.S_IXOTH)
    (project.root.parent / "output").mkdir(mode=0o777, exist_ok=True)
    (project.root.parent / "output").chmod(0o777)
    yield project
    for path in opened:
        path.chmod(path.stat().st_mode & ~stat.S_IXOTH)


def become_nobody() -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def test_files_that_the_user_may_not_write_are_named_and_others_go_on(foreign: Project) -> None:
    own = foreign.write("own/b.py", SAFE)
    os.chown(own.parent, NOBODY, NOBODY)
    os.chown(own, NOBODY, NOBODY)
    data = foreign.root / ".gbfix"
    data.mkdir()
    os.chown(data, NOBODY, NOBODY)
    os.chown(foreign.write("read_only_folder.py", SAFE), NOBODY, NOBODY)
    done = gbfix(foreign.root, "apply", "--allow-dirty", "--no-evidence", first=become_nobody)
    assert done.code == 2
    assert done.err.splitlines() == [
        "error: a.py: is read-only; make it writable (chmod u+w) or leave it out",
        "error: long.py: is read-only; make it writable (chmod u+w) or leave it out",
        "error: read_only_folder.py: lies in a folder that is read-only; "
        "make the folder writable or leave the file out",
    ]
    assert [foreign.read(name) for name in ("a.py", "long.py", "read_only_folder.py")] == [SAFE, LONG, SAFE]
    assert own.read_text() != SAFE


def test_a_place_for_records_that_cannot_be_made(foreign: Project) -> None:
    for name in ("a.py", "long.py"):
        (foreign.root / name).unlink()
    own = foreign.write("own/b.py", SAFE)
    os.chown(own.parent, NOBODY, NOBODY)
    os.chown(own, NOBODY, NOBODY)
    for words in (("apply", "--allow-dirty"), ("apply", "--overlay")):
        done = gbfix(foreign.root, *words, first=become_nobody)
        assert (done.code, done.err) == (2, f"error: {foreign.root}/.gbfix: cannot be made: Permission denied\n")
    done = gbfix(foreign.root, "apply", "--patch", "fixes.patch", first=become_nobody)
    assert (done.code, done.err) == (2, "error: fixes.patch: the patch cannot be written: Permission denied\n")
    assert own.read_text() == SAFE


def test_a_file_that_cannot_be_changed_even_by_root(project: Project) -> None:
    if shutil.which("chattr") is None:
        pytest.skip("needs chattr")
    path = project.root / "long.py"
    if subprocess.run(["chattr", "+i", str(path)], capture_output=True, check=False).returncode:
        pytest.skip("this file system or user cannot make a file immutable")
    try:
        done = gbfix(project.root, "apply")
        assert done.code == 2
        assert "long.py: " in done.err
        assert project.read("long.py") == LONG
        assert names(project) == {"a.py", "long.py"}
    finally:
        subprocess.run(["chattr", "-i", str(path)], check=True)


def test_a_folder_that_vanishes_meanwhile(project: Project) -> None:
    project.write("sub/b.py", SAFE)
    project.write("zzz.py", SAFE)
    for number in range(0, 36, 6):
        done = gbfix(project.root, "apply", moments=before(number, lambda: shutil.rmtree(project.root / "sub")))
        assert done.code in (0, 2)
        assert "Traceback" not in done.err
        if done.code == 2:
            assert "sub/b.py: cannot be written: No such file or directory" in done.err
            assert [project.read(name) for name in ("a.py", "zzz.py")] in ([SAFE, SAFE], [project.read("a.py")] * 2)
        gbfix(project.root, "undo")
        shutil.rmtree(project.root / ".gbfix", ignore_errors=True)
        for name, text in (("sub/b.py", SAFE), ("zzz.py", SAFE), ("a.py", SAFE), ("long.py", LONG)):
            project.write(name, text)
