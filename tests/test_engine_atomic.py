from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from gbfix.engine.atomic import Rewrite, obstacle, replace, replace_all
from gbfix.engine.model import WriteError


def make(path: Path, mode: int = 0o644) -> Path:
    path.write_bytes(b"old")
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o666, 0o4755])
def test_contents_change_and_mode_stays(tmp_path: Path, mode: int) -> None:
    path = make(tmp_path / "a.py", mode)
    replace(path, b"new\r\n\x00\xff")
    assert path.read_bytes() == b"new\r\n\x00\xff"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = make(tmp_path / "a.py")
    os.chown(path, 12345, 54321)
    replace(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_file_with_the_longest_name_can_be_replaced(tmp_path: Path) -> None:
    path = make(tmp_path / ("x" * 252 + ".py"))
    replace(path, b"new")
    assert path.read_bytes() == b"new"


def test_what_a_killed_run_left_is_cleaned_up(tmp_path: Path) -> None:
    path = make(tmp_path / "a.py")
    (tmp_path / ".gbfix-abc.tmp").write_bytes(b"half")
    replace_all([Rewrite(path, b"old", b"new")])
    assert list(tmp_path.iterdir()) == [path]


def test_when_one_changed_meanwhile_the_earlier_ones_are_put_back(tmp_path: Path) -> None:
    paths = [make(tmp_path / name, 0o755) for name in ("a.py", "b.py", "c.py")]
    paths[1].write_bytes(b"edited")
    with pytest.raises(WriteError, match=r"b\.py: changed since it was read; .*; the files .* were put back"):
        replace_all([Rewrite(path, b"old", b"new") for path in paths])
    assert [path.read_bytes() for path in paths] == [b"old", b"edited", b"old"]
    assert stat.S_IMODE(paths[0].stat().st_mode) == 0o755


def test_when_the_first_fails_nothing_was_written(tmp_path: Path) -> None:
    path = tmp_path / "none.py"
    with pytest.raises(WriteError, match=r"none\.py: cannot be written: No such file.*; nothing was written"):
        replace_all([Rewrite(path, b"old", b"new"), Rewrite(make(tmp_path / "b.py"), b"old", b"new")])
    assert (tmp_path / "b.py").read_bytes() == b"old"


def test_obstacles(tmp_path: Path) -> None:
    assert obstacle(make(tmp_path / "fine.py")) is None
    copy = make(tmp_path / "copy_from_a_read_only_place.py", 0o444)
    assert (obstacle(copy) is None) == os.access(copy, os.W_OK)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    assert "read-only" in str(obstacle(make(tmp_path / "protected.py", 0o444)))
    assert "not a regular file" in str(obstacle(tmp_path))
    assert "No such file" in str(obstacle(tmp_path / "none.py"))
    (tmp_path / "link.py").symlink_to("fine.py")
    assert "not a regular file" in str(obstacle(tmp_path / "link.py"))
