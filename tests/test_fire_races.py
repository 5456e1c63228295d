"""Somebody else at the same files at the same time: another gbfix, an editor, a link or a pipe put in their place."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import SAFE, Project
from killing import Moments, before, gbfix

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
ROUNDS = 5
MINE = "# mine\n" + SAFE


@pytest.fixture
def project(project: Project) -> Project:
    for name in ("a.py", "b.py"):
        project.write(name, SAFE)
    return project


def test_two_at_the_same_time_write_each_file_once(project: Project) -> None:
    """The one that comes late finds nothing to do, or says that the files changed since it read them."""
    assert gbfix(project.root, "apply").code == 0
    fixed = project.read("a.py")
    assert gbfix(project.root, "undo").code == 0
    for _ in range(ROUNDS):
        gate, opened = os.pipe()
        done = []

        def late(gate: int = gate) -> None:
            os.read(gate, 1)

        def one(output: str, late: Callable[[], None] = late, done: list[object] = done) -> None:
            done.append(gbfix(project.root, "apply", first=late, output=output))

        threads = [threading.Thread(target=one, args=(name,)) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        os.write(opened, b"xx")
        for thread in threads:
            thread.join()
        os.close(gate)
        os.close(opened)
        assert [project.read(name) for name in ("a.py", "b.py")] == [fixed, fixed]
        assert sorted(one.code for one in done)[0] == 0  # type: ignore[attr-defined]
        for one_done in done:
            for line in one_done.err.splitlines():  # type: ignore[attr-defined]
                assert line.endswith(": changed since it was read; run gbfix again")
        assert gbfix(project.root, "undo").code == 0
        assert [project.read(name) for name in ("a.py", "b.py")] == [SAFE, SAFE]
        assert gbfix(project.root, "undo").code == 2


def in_place(path: Path) -> None:
    path.write_text(MINE)


def by_rename(path: Path) -> None:
    path.with_name("edited").write_text(MINE)
    path.with_name("edited").rename(path)


@pytest.mark.parametrize("edit", [in_place, by_rename], ids=["in place", "by rename"])
def test_what_an_editor_saves_meanwhile_is_never_lost(project: Project, edit: Callable[[Path], None]) -> None:
    """Whenever it is saved while gbfix writes, up to the call that puts the new file into its place."""
    path = project.root / "b.py"
    events: list[str] = []

    def note(_number: int, event: str, arguments: tuple[object, ...]) -> None:
        onto = event == "os.rename" and str(arguments[1]) == str(path)
        events.append("onto b.py" if onto else event)

    assert gbfix_noting(project, note, events)
    gbfix(project.root, "undo")
    last = events.index("onto b.py")
    said = set()
    for number in (*range(0, last, 4), last - 1):
        shutil.rmtree(project.root / ".gbfix")
        project.write("a.py", SAFE)
        project.write("b.py", SAFE)
        done = gbfix(project.root, "apply", moments=before(number, lambda: edit(path)))
        assert done.code == 2
        assert project.read("b.py") == MINE, (number, events[number])
        (line,) = done.err.splitlines()
        said.add(line.split("b.py: ")[1].partition(";")[0])
        assert project.read("a.py") == SAFE or "a.py" not in line
    assert said == {"changed since it was read"}


def gbfix_noting(project: Project, note: Callable[[int, str, tuple[object, ...]], None], events: list[str]) -> bool:
    """Run an apply and bring what was noted over from its process."""
    notes = project.root.parent / "notes"

    def keep(number: int, event: str, arguments: tuple[object, ...]) -> None:
        note(number, event, arguments)
        notes.write_text("\n".join(events))

    done = gbfix(project.root, "apply", moments=Moments(keep))
    events[:] = notes.read_text().splitlines()
    return done.code == 0


def link_out(path: Path) -> None:
    path.unlink()
    path.symlink_to("../outside.py")


def link_to_the_same(path: Path) -> None:
    path.rename(path.with_name("moved.txt"))
    path.symlink_to("moved.txt")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("put", [link_out, link_to_the_same, pipe, folder])
def test_what_takes_the_place_of_a_file_meanwhile_stays(project: Project, put: Callable[[Path], None]) -> None:
    path = project.root / "b.py"
    outside = project.root.parent / "outside.py"
    outside.write_text(SAFE)
    for number in (0, 12, 20, 22):
        project.write("a.py", SAFE)
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        path.unlink(missing_ok=True)
        project.write("b.py", SAFE)
        done = gbfix(project.root, "apply", moments=before(number, lambda: put(path)))
        assert done.code == 2
        assert "b.py: " in done.err
        assert "Traceback" not in done.err
        assert path.is_symlink() or not path.is_file()
        assert outside.read_text() == SAFE
        assert (project.root / "moved.txt").read_text() == SAFE if put is link_to_the_same else True
        gbfix(project.root, "undo")


def test_what_is_no_file_is_named_and_not_waited_for(project: Project) -> None:
    os.mkfifo(project.root / "pipe.py")
    (project.root / "folder.py").mkdir()
    project.write("folder.py/c.py", SAFE)
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.relpath(project.root / "socket.py"))
    (project.root / "device.py").symlink_to("/dev/null")
    (project.root / "out.py").symlink_to("../outside.py")
    (project.root / "nowhere.py").symlink_to("not_there.py")
    (project.root.parent / "outside.py").write_text(SAFE)
    wrong = ["pipe.py", "socket.py", "device.py"]
    done = gbfix(project.root, "scan", *wrong, "folder.py", "nowhere.py")
    server.close()
    assert done.code == 2
    assert done.err.splitlines() == [
        *(f"error: {name}: not a regular file; name Python files or folders" for name in wrong),
        "error: nowhere.py: No such file or directory",
    ]
    assert "folder.py/c.py:7" in done.out
    done = gbfix(project.root, "scan", ".")
    assert done.code == 2
    expected = [f"error: {name}: not a regular file; exclude it" for name in ("device.py", "nowhere.py")]
    assert done.err.splitlines() == expected  # git lists no pipes and sockets
    assert "a.py:7" in done.out
