from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gbfix.engine.files import read_source
from gbfix.engine.model import GbfixError, WriteError
from gbfix.engine.undo import undo_last
from gbfix.engine.write import Change, blocked, write_files

OLD, NEW = b"x = 1\n", b"x = 1\n# changed\n"
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "all")


def make(top: Path, *names: str, data: bytes = OLD) -> list[Path]:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    return [top / name for name in names]


def change(path: Path, added: str = "# changed\n") -> Change:
    source = read_source(path)
    return Change(source, source.text + added)


def records(root: Path) -> list[str]:
    folder = root / ".gbfix" / "undo"
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("name", ["a.py", "two words/größe.py", "line\nbreak.py", os.fsdecode(b"latin-\xe9.py")])
@pytest.mark.parametrize("repository", [False, True])
def test_written_undone_and_invisible_to_git(tmp_path: Path, name: str, repository: bool) -> None:
    root = tmp_path / "größe 1"
    paths = make(root, name, "other.py")
    paths[0].chmod(0o755)
    if repository:
        commit(root)
    write_files([change(path) for path in paths], root=root, allow_dirty=False)
    assert [path.read_bytes() for path in paths] == [NEW, NEW]
    assert stat.S_IMODE(paths[0].stat().st_mode) == 0o755
    if repository:
        status = subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True, capture_output=True).stdout
        assert status.count(b" M ") == 2
        assert b"gbfix" not in status
    assert undo_last(root) == tuple(sorted(paths))
    assert [path.read_bytes() for path in paths] == [OLD, OLD]
    assert stat.S_IMODE(paths[0].stat().st_mode) == 0o755
    assert records(root) == []


@pytest.mark.parametrize(
    "data",
    [
        b"x = 1\r\ny = 2\r\n",
        b"\xef\xbb\xbfx = '\xc3\xa9'\r\n",
        b"# coding: latin-1\nx = '\xe9'\n",
        b"x = 1\r\ny = 2\n",
    ],
)
def test_bytes_outside_of_the_change_stay(tmp_path: Path, data: bytes) -> None:
    (path,) = make(tmp_path, "a.py", data=data)
    write_files([change(path, "z = 1")], root=tmp_path, allow_dirty=False)
    assert path.read_bytes() == data + b"z = 1"
    undo_last(tmp_path)
    assert path.read_bytes() == data


def test_nothing_to_write_leaves_no_trace(tmp_path: Path) -> None:
    (path,) = make(tmp_path, "a.py")
    write_files([change(path, "")], root=tmp_path, allow_dirty=False)
    write_files([], root=tmp_path, allow_dirty=False)
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_its_target_changes(tmp_path: Path) -> None:
    (target,) = make(tmp_path, "sub/real.py")
    link = tmp_path / "link.py"
    link.symlink_to("sub/real.py")
    write_files([change(link)], root=tmp_path, allow_dirty=False)
    assert os.readlink(link) == "sub/real.py"
    assert target.read_bytes() == NEW
    undo_last(tmp_path)
    assert os.readlink(link) == "sub/real.py"
    assert target.read_bytes() == OLD


def test_one_file_by_two_paths_is_refused(tmp_path: Path) -> None:
    (path,) = make(tmp_path, "a.py")
    (tmp_path / "link.py").symlink_to("a.py")
    with pytest.raises(WriteError, match=r"a\.py: changed by way of 2 paths"):
        write_files([change(path), change(tmp_path / "link.py")], root=tmp_path, allow_dirty=False)
    assert path.read_bytes() == OLD


def test_a_file_outside_of_the_root_is_refused(tmp_path: Path) -> None:
    inside, outside = make(tmp_path, "root/a.py", "b.py")
    link = tmp_path / "root" / "link.py"
    link.symlink_to("../b.py")
    for path in (outside, link):
        with pytest.raises(WriteError, match=r"b\.py: lies outside of .*root"):
            write_files([change(inside), change(path)], root=tmp_path / "root", allow_dirty=False)
    assert (inside.read_bytes(), outside.read_bytes()) == (OLD, OLD)
    assert records(tmp_path / "root") == []


def test_a_dirty_file_blocks_all_unless_allowed(tmp_path: Path) -> None:
    clean, dirty = make(tmp_path, "clean.py", "dirty.py", data=b"x = 0\n")
    make(tmp_path, "clean.py")
    commit(tmp_path)
    dirty.write_bytes(OLD)
    changes = [change(clean), change(dirty)]
    message = rf"^{dirty}: has uncommitted changes; commit or stash them, or pass --allow-dirty$"
    with pytest.raises(WriteError, match=message):
        write_files(changes, root=tmp_path, allow_dirty=False)
    assert clean.read_bytes() == OLD
    assert records(tmp_path) == []
    assert list(blocked(changes, allow_dirty=False)) == [dirty]
    assert blocked(changes, allow_dirty=True) == {}
    write_files(changes, root=tmp_path, allow_dirty=True)
    assert (clean.read_bytes(), dirty.read_bytes()) == (NEW, NEW)
    undo_last(tmp_path)
    assert dirty.read_bytes() == OLD


def test_a_second_apply_needs_a_commit_between(tmp_path: Path) -> None:
    (path,) = make(tmp_path, "a.py")
    commit(tmp_path)
    write_files([change(path)], root=tmp_path, allow_dirty=False)
    with pytest.raises(WriteError, match="uncommitted changes"):
        write_files([change(path)], root=tmp_path, allow_dirty=False)


def test_untracked_and_ignored_files_are_written(tmp_path: Path) -> None:
    make(tmp_path, "tracked.py")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    commit(tmp_path)
    paths = make(tmp_path, "untracked.py", "ignored.py")
    write_files([change(path) for path in paths], root=tmp_path, allow_dirty=False)
    assert [path.read_bytes() for path in paths] == [NEW, NEW]


def test_a_dirty_file_of_a_submodule_is_refused_from_above(tmp_path: Path) -> None:
    make(tmp_path, "library/a.py", data=b"x = 0\n")
    commit(tmp_path / "library")
    make(tmp_path, "top/b.py")
    commit(tmp_path / "top")
    git(tmp_path / "top", "submodule", "--quiet", "add", str(tmp_path / "library"), "sub")
    git(tmp_path / "top", "commit", "--quiet", "-m", "submodule")
    path = tmp_path / "top" / "sub" / "a.py"
    path.write_bytes(OLD)
    with pytest.raises(WriteError, match=r"sub/a\.py: has uncommitted changes"):
        write_files([change(path)], root=tmp_path / "top", allow_dirty=False)
    git(tmp_path / "top" / "sub", "commit", "--quiet", "-am", "second")
    write_files([change(path), change(tmp_path / "top" / "b.py")], root=tmp_path / "top", allow_dirty=False)
    assert path.read_bytes() == NEW


def test_when_git_cannot_tell_the_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = make(tmp_path, "a.py")
    commit(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(WriteError, match=r"a\.py: cannot tell whether .*git cannot be run.*--allow-dirty"):
        write_files([change(path)], root=tmp_path, allow_dirty=False)
    write_files([change(path)], root=tmp_path, allow_dirty=True)
    assert path.read_bytes() == NEW


def test_a_file_that_changed_or_went_since_it_was_read_is_refused(tmp_path: Path) -> None:
    first, edited, gone = make(tmp_path, "a.py", "edited.py", "gone.py")
    changes = [change(first), change(edited), change(gone)]
    edited.write_bytes(b"x = 3\n")
    gone.unlink()
    with pytest.raises(WriteError) as failure:
        write_files(changes, root=tmp_path, allow_dirty=False)
    assert str(failure.value).splitlines() == [
        f"{edited}: changed since it was read; run gbfix again",
        f"{gone}: cannot be written: No such file or directory",
    ]
    assert first.read_bytes() == OLD
    assert records(tmp_path) == []


def test_a_read_only_file_is_refused_even_for_root(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    first, protected = make(tmp_path, "a.py", "protected.py")
    protected.chmod(0o444)
    with pytest.raises(WriteError, match=r"protected\.py: is read-only; make it writable"):
        write_files([change(first), change(protected)], root=tmp_path, allow_dirty=False)
    assert (first.read_bytes(), protected.read_bytes()) == (OLD, OLD)


def test_a_text_that_does_not_fit_the_encoding_is_refused(tmp_path: Path) -> None:
    first, latin = make(tmp_path, "a.py", "latin.py", data=b"# coding: latin-1\n")
    changes = [change(first), change(latin, "x = '€'\n")]
    assert "latin.py:2: '\\u20ac' cannot be written in iso-8859-1" in str(blocked(changes, allow_dirty=False)[latin])
    with pytest.raises(GbfixError, match=r"latin\.py:2: .* cannot be written in iso-8859-1"):
        write_files(changes, root=tmp_path, allow_dirty=False)
    assert first.read_bytes() == b"# coding: latin-1\n"


class _Events:
    """Acts at one file system operation of a process: the audit events of `open`, `os.rename` and the like."""

    def __init__(self, at: int, action: Callable[[], None], wanted: Callable[[str, tuple[object, ...]], bool]) -> None:
        self.left, self.action, self.wanted = at, action, wanted

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.left >= 0 and self.wanted(event, arguments):
            self.left -= 1
            if self.left < 0:
                self.action()


def on_disk(event: str, _: tuple[object, ...]) -> bool:
    return event in {"open", "os.rename", "os.mkdir", "os.chmod", "os.chown", "os.remove", "os.rmdir", "shutil.rmtree"}


def onto_python_file(event: str, arguments: tuple[object, ...]) -> bool:
    return event == "os.rename" and str(arguments[1]).endswith(".py")


def in_child(work: Callable[[], None], events: _Events) -> int:
    """Run in a forked process under an audit hook; gives the exit status, negative for a signal."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            sys.addaudithook(events)
            work()
            status = 0
        except WriteError as error:
            os.write(2, str(error).encode())
            status = 3
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@needs_fork
def test_a_kill_at_any_moment_leaves_each_file_old_or_new_and_undo_works(tmp_path: Path) -> None:
    mixtures: set[int] = set()
    for moment in range(1000):
        root = tmp_path / str(moment)
        paths = make(root, "a.py", "sub/b.py", "c.py")
        changes = [change(path) for path in paths]

        def write(changes: list[Change] = changes, root: Path = root) -> None:
            write_files(changes, root=root, allow_dirty=False)

        status = in_child(write, _Events(moment, kill_self, on_disk))
        contents = [path.read_bytes() for path in paths]
        assert set(contents) <= {OLD, NEW}
        mixtures.add(contents.count(NEW))
        if NEW in contents or records(root) == ["00000001"]:
            written = tuple(sorted(path for path in paths if path.read_bytes() == NEW))
            assert undo_last(root) == written
        else:
            with pytest.raises(GbfixError, match="nothing to undo"):
                undo_last(root)
        assert [path.read_bytes() for path in paths] == [OLD, OLD, OLD]
        write()  # what was left behind stands in nobody's way
        assert records(root) == ["00000001"]
        assert sorted(path.name for path in root.rglob("*.*") if ".gbfix" not in str(path)) == ["a.py", "b.py", "c.py"]
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert mixtures == {0, 1, 2, 3}


@needs_fork
def test_a_kill_at_any_moment_of_undo_can_be_finished_by_undo(tmp_path: Path) -> None:
    for moment in range(1000):
        root = tmp_path / str(moment)
        paths = make(root, "a.py", "b.py")
        write_files([change(path) for path in paths], root=root, allow_dirty=False)

        def undo(root: Path = root) -> None:
            undo_last(root)

        status = in_child(undo, _Events(moment, kill_self, on_disk))
        assert {path.read_bytes() for path in paths} <= {OLD, NEW}
        if "00000001" in records(root):
            undo()
        assert [path.read_bytes() for path in paths] == [OLD, OLD]
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert moment > 5


@needs_fork
def test_a_full_disk_in_the_middle_puts_the_earlier_files_back(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = make(tmp_path, "a.py", "b.py", "c.py")
    changes = [change(path) for path in paths]

    def fail() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    events = _Events(1, fail, onto_python_file)
    assert in_child(lambda: write_files(changes, root=tmp_path, allow_dirty=False), events) == 3
    message = f"{tmp_path}/b.py: cannot be written: No space left on device; the files already written were put back"
    assert capfd.readouterr().err == message
    assert [path.read_bytes() for path in paths] == [OLD, OLD, OLD]
    assert records(tmp_path) == []
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".gbfix", "a.py", "b.py", "c.py"]


@needs_fork
def test_an_edit_by_somebody_else_in_the_middle_survives(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    paths = make(tmp_path, "a.py", "b.py")
    changes = [change(path) for path in paths]

    def edit() -> None:
        paths[1].write_bytes(b"mine\n")

    events = _Events(0, edit, onto_python_file)
    assert in_child(lambda: write_files(changes, root=tmp_path, allow_dirty=False), events) == 3
    assert "b.py: changed since it was read" in capfd.readouterr().err
    assert [path.read_bytes() for path in paths] == [OLD, b"mine\n"]
    assert records(tmp_path) == []


@needs_fork
def test_an_interrupt_at_any_moment_leaves_all_files_old_or_all_new(tmp_path: Path) -> None:
    outcomes: list[bool] = []
    for moment in range(1000):
        root = tmp_path / str(moment)
        paths = make(root, "a.py", "b.py")
        changes = [change(path) for path in paths]

        def write(changes: list[Change] = changes, root: Path = root) -> None:
            with pytest.raises(KeyboardInterrupt):
                write_files(changes, root=root, allow_dirty=False)

        status = in_child(write, _Events(moment, lambda: os.kill(os.getpid(), signal.SIGINT), on_disk))
        contents = [path.read_bytes() for path in paths]
        assert contents in ([OLD, OLD], [NEW, NEW])
        assert (contents == [NEW, NEW]) <= (records(root) == ["00000001"])
        assert sorted(entry.name for entry in root.iterdir() if entry.name != ".gbfix") == ["a.py", "b.py"]
        if status != 0:  # nothing was interrupted
            break
        outcomes.append(contents == [NEW, NEW])
    assert outcomes.count(False) > 10
