from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gbfix.engine.data_folder import data_folder, locked
from gbfix.engine.model import WriteError

HOLD = """
import sys
from pathlib import Path
from gbfix.engine.data_folder import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_git_does_not_show_the_folder(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (data_folder(tmp_path) / "something").touch()
    assert data_folder(tmp_path) == tmp_path / ".gbfix"
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path, check=True, capture_output=True)
    assert status.stdout == b""


def test_a_link_or_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".gbfix").symlink_to("../elsewhere")
    with pytest.raises(WriteError, match=r"a/\.gbfix: is a symbolic link; remove it"):
        data_folder(tmp_path / "a")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    (tmp_path / ".gbfix").touch()
    with pytest.raises(WriteError, match=r"\.gbfix: cannot be made: File exists"):
        data_folder(tmp_path)


def test_the_lock_keeps_a_second_process_out_until_the_first_dies(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(WriteError, match="another gbfix is writing here"), locked(tmp_path, wait_seconds=0):
            pass
        holder.kill()
        holder.wait()
        with locked(tmp_path, wait_seconds=0) as folder:
            assert folder == tmp_path / ".gbfix"
