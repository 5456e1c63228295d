from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gbfix.engine.files import read_source
from gbfix.engine.model import GbfixError, WriteError
from gbfix.engine.undo import recorded_files, undo_last, undo_root
from gbfix.engine.write import Change, write_files

OLD, NEW = b"x = 1\n", b"x = 1\n# changed\n"


def apply(root: Path, *paths: Path, added: str = "# changed\n") -> None:
    sources = [read_source(path) for path in paths]
    write_files([Change(source, source.text + added) for source in sources], root=root, allow_dirty=True)


def make(top: Path, *names: str, data: bytes = OLD) -> list[Path]:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    return [top / name for name in names]


def edit_record(root: Path, edit: Callable[[dict[str, object]], object]) -> None:
    path = root / ".gbfix" / "undo" / "00000001" / "record.json"
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


def test_undo_goes_back_one_apply_at_a_time(tmp_path: Path) -> None:
    first, second = make(tmp_path, "a.py", "b.py")
    for number in range(11):  # past the point where names sort before numbers
        apply(tmp_path, first, added=f"# {number}\n")
    apply(tmp_path, second)
    assert undo_last(tmp_path) == (second,)
    for number in reversed(range(11)):
        assert first.read_bytes().endswith(f"# {number}\n".encode())
        assert undo_last(tmp_path) == (first,)
    assert (first.read_bytes(), second.read_bytes()) == (OLD, OLD)
    with pytest.raises(GbfixError, match=f"^{tmp_path}: nothing to undo$"):
        undo_last(tmp_path)


def test_what_the_records_hold_the_last_apply_first(tmp_path: Path) -> None:
    first, second = make(tmp_path, "a.py", "b.py")
    assert recorded_files(tmp_path) == ()
    apply(tmp_path, first, second)
    apply(tmp_path, first, added="# again\n")
    entries = recorded_files(tmp_path)
    assert [(entry.path, entry.before) for entry in entries] == [(first, NEW), (first, OLD), (second, OLD)]
    assert entries[0].after == hashlib.sha256(first.read_bytes()).hexdigest()


def test_nothing_to_undo_leaves_no_trace(tmp_path: Path) -> None:
    with pytest.raises(GbfixError, match="nothing to undo"):
        undo_last(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changed_since_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    first, second, third = make(tmp_path, "a.py", "b.py", "c.py")
    apply(tmp_path, first, second, third)
    second.write_bytes(b"mine\n")
    third.unlink()
    with pytest.raises(WriteError) as failure:
        undo_last(tmp_path)
    messages = str(failure.value).splitlines()
    patch = tmp_path / ".gbfix" / "undo" / "00000001" / "undo.patch"
    assert messages == [
        f"{second}: changed since gbfix wrote it; undo by hand with {patch}, then delete {patch.parent}",
        f"{third}: cannot be written: No such file or directory",
    ]
    assert first.read_bytes() == NEW
    second.write_bytes(NEW)
    third.write_bytes(OLD)
    assert undo_last(tmp_path) == (first, second)


def test_a_read_only_file_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    first, second = make(tmp_path, "a.py", "b.py")
    apply(tmp_path, first, second)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    second.chmod(0o444)
    with pytest.raises(WriteError, match=r"b\.py: is read-only"):
        undo_last(tmp_path)
    assert first.read_bytes() == NEW


@pytest.mark.parametrize(
    "data",
    [
        OLD,
        b"x = 1\r\n",
        b"\xef\xbb\xbfx = 1\r\n",
        b"# coding: latin-1\nx = '\xe9'\n",
        b"x = '\xe2\x80\xa8\x0c'\n",
        b"x = 1",
    ],
)
@pytest.mark.parametrize("name", ["a.py", "two words/größe.py", "line\nbreak.py", os.fsdecode(b"latin-\xe9.py")])
def test_the_patch_of_the_record_takes_the_apply_back(tmp_path: Path, name: str, data: bytes) -> None:
    (path,) = make(tmp_path, name, data=data)
    apply(tmp_path, path, added="\n# changed\r\n# é" if b"coding" in data else "\n# changed\r\n# é€")
    assert path.read_bytes() != data
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    command = ["git", "apply", "-R", ".gbfix/undo/00000001/undo.patch"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert path.read_bytes() == data


def test_a_record_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (path,) = make(root, "a.py")
    apply(root, path)
    outside = make(tmp_path, "outside.py", "root/.git/config", "root/.gbfix/x.py", data=NEW)
    (root / "link.py").symlink_to("../outside.py")
    (root / "folder").symlink_to("..")
    names = [
        "../outside.py",
        str(outside[0]),
        "link.py",
        "folder/outside.py",
        ".git/config",
        ".GIT/config",
        "sub/../a.py",
    ]
    for name in [*names, ".gbfix/x.py", "a\0b", 3, None]:
        edit_record(root, lambda document, name=name: document["files"][0].update(path=name))  # type: ignore[misc]
        with pytest.raises(WriteError, match=r"00000001: damaged undo record .*; delete this folder"):
            undo_last(root)
    assert [file.read_bytes() for file in (*outside, path)] == [NEW, NEW, NEW, NEW]


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    (path,) = make(tmp_path, "a.py")
    apply(tmp_path, path)
    record = tmp_path / ".gbfix" / "undo" / "00000001"
    good = {file: file.read_bytes() for file in record.iterdir()}
    damages: list[Callable[[], object]] = [
        lambda: (record / "0.before").write_bytes(b"other"),
        lambda: (record / "0.before").unlink(),
        lambda: (record / "record.json").unlink(),
        lambda: (record / "record.json").write_bytes(b"{"),
        lambda: (record / "record.json").write_bytes(b"[]"),
        lambda: (record / "record.json").write_bytes(b"\xff"),
        lambda: edit_record(tmp_path, lambda document: document.update(files=3)),
        lambda: edit_record(tmp_path, lambda document: document.update(files=["x"])),
        lambda: edit_record(tmp_path, lambda document: document.pop("version")),
    ]
    for damage in damages:
        damage()
        with pytest.raises(WriteError, match=r"00000001: damaged undo record"):
            undo_last(tmp_path)
        assert path.read_bytes() == NEW
        for file, data in good.items():
            file.write_bytes(data)
    edit_record(tmp_path, lambda document: document.update(version=2))
    with pytest.raises(WriteError, match=r"00000001: written by another version of gbfix"):
        undo_last(tmp_path)


def test_a_link_in_place_of_the_records_is_refused(tmp_path: Path) -> None:
    (path,) = make(tmp_path / "other", "a.py")
    apply(tmp_path / "other", path)
    root = tmp_path / "root"
    (root / ".gbfix").mkdir(parents=True)
    (root / ".gbfix" / "undo").symlink_to(tmp_path / "other" / ".gbfix" / "undo")
    with pytest.raises(WriteError, match=r"root/\.gbfix/undo: is a symbolic link"):
        undo_last(root)
    make(root, "a.py")
    with pytest.raises(WriteError, match=r"root/\.gbfix/undo: is a symbolic link"):
        apply(root, root / "a.py")
    assert (root / "a.py").read_bytes() == OLD


def test_a_record_cannot_be_written_is_an_error_before_any_file_changes(tmp_path: Path) -> None:
    (path,) = make(tmp_path, "a.py")
    make(tmp_path, ".gbfix/undo")
    with pytest.raises(WriteError, match=r"\.gbfix/undo: the undo record cannot be written: File exists"):
        apply(tmp_path, path)
    assert path.read_bytes() == OLD


def test_the_root_is_where_undo_will_look_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, other, deep = make(tmp_path, "repository/src/a.py", "other/b.py", "other/deep/c.py")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path / "repository", check=True)
    monkeypatch.chdir(tmp_path / "repository" / "src")
    assert undo_root() == undo_root([inside]) == undo_root([Path("a.py")]) == tmp_path / "repository"
    assert undo_root([other, deep]) == tmp_path / "other"
    assert undo_root([other, inside]) == tmp_path
    monkeypatch.chdir(tmp_path)
    assert undo_root() == undo_root([inside]) == undo_root([other, inside]) == tmp_path
    monkeypatch.chdir(tmp_path / "other")
    assert undo_root([inside]) == tmp_path / "repository"
    assert undo_root([deep]) == tmp_path / "other"
