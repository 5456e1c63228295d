from __future__ import annotations

import os
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from gbfix.engine.files import SourceText, discover, encode_source, read_source
from gbfix.engine.model import ConfigurationError, SourceError


def make(top: Path, *names: str) -> None:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x = 1\n")


def init(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)


def add(folder: Path, *names: str) -> None:
    subprocess.run(["git", "add", "--force", *names], cwd=folder, check=True)


def names_below(top: Path, *exclude: str, base: Path | None = None) -> list[str]:
    found = discover([top], exclude, base=base or top)
    assert found.problems == ()
    return [file.relative_to(top).as_posix() for file in found.files]


def problems_of(*paths: Path) -> list[str]:
    return [str(problem) for problem in discover(paths, []).problems]


SKIPPED = (
    ".hidden.py",
    ".hidden/a.py",
    "a/.venv/b.py",
    "node_modules/n.py",
    "__pycache__/c.py",
    "build/lib/b.py",
    "a/dist/d.py",
    "lib/site-packages/s.py",
)


@pytest.mark.parametrize("repository", [False, True])
def test_a_folder_gives_its_python_files_without_the_usual_clutter(tmp_path: Path, repository: bool) -> None:
    if repository:
        init(tmp_path)
    make(tmp_path, "z.py", "a/b.py", "a/__init__.py", "a.py", "two words.py", "größe/é.py", "line\nbreak.py", *SKIPPED)
    make(tmp_path, "stub.pyi", "text.txt", "noext", "a.py.orig", "env/pyvenv.cfg", "env/lib/x.py")
    expected = ["a/__init__.py", "a/b.py", "a.py", "größe/é.py", "line\nbreak.py", "two words.py", "z.py"]
    assert sorted(names_below(tmp_path)) == sorted(expected)
    assert list(discover([tmp_path], []).files) == sorted(tmp_path / name for name in expected)


def test_git_ignored_files_are_left_out_and_tracked_ones_kept(tmp_path: Path) -> None:
    init(tmp_path)
    make(tmp_path, "a.py", "gone.py", "ignored.py", "out/x.py", "out/kept.py", "build/made.py", "dist/d.py")
    make(tmp_path, "sub/local.py", "sub/b.py")
    (tmp_path / ".gitignore").write_text("ignored.py\nout/\n")
    (tmp_path / "sub" / ".gitignore").write_text("local.py\n")
    add(tmp_path, "a.py", "gone.py", "out/kept.py", "build/made.py")
    (tmp_path / "gone.py").unlink()
    assert names_below(tmp_path) == ["a.py", "build/made.py", "out/kept.py", "sub/b.py"]
    assert names_below(tmp_path / "sub") == ["b.py"]


def test_an_ignored_or_hidden_folder_that_is_named_is_looked_into(tmp_path: Path) -> None:
    init(tmp_path)
    make(tmp_path, "a.py", ".venv/pyvenv.cfg", ".venv/lib/site-packages/package/m.py", "build/lib/b.py")
    (tmp_path / ".gitignore").write_text(".venv/\nbuild/\n")
    assert names_below(tmp_path / ".venv" / "lib" / "site-packages" / "package") == ["m.py"]
    assert names_below(tmp_path / ".venv" / "lib" / "site-packages") == ["package/m.py"]
    assert names_below(tmp_path / "build") == ["lib/b.py"]


def test_repositories_inside_follow_their_own_rules(tmp_path: Path) -> None:
    """A submodule, a clone inside a repository, and clones below a folder that is no repository."""
    for inner in (tmp_path / "top" / "clone", tmp_path / "other", tmp_path / "library"):
        init(inner)
        make(inner, "kept.py", "secret.py", ".hidden/h.py")
        (inner / ".gitignore").write_text("secret.py\n")
        identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
        add(inner, ".gitignore", "kept.py")
        subprocess.run(["git", *identity, "commit", "-qm", "first"], cwd=inner, check=True)
    init(tmp_path / "top")
    allow = ("-c", "protocol.file.allow=always")
    command = ["git", *allow, "submodule", "--quiet", "add", str(tmp_path / "library"), "sub"]
    subprocess.run(command, cwd=tmp_path / "top", check=True)
    make(tmp_path / "top", "sub/secret.py", "sub/new.py")
    assert names_below(tmp_path / "top") == ["clone/kept.py", "sub/kept.py", "sub/new.py"]
    assert names_below(tmp_path) == [
        "library/kept.py",
        "other/kept.py",
        "top/clone/kept.py",
        "top/sub/kept.py",
        "top/sub/new.py",
    ]


@pytest.mark.parametrize("repository", [False, True])
def test_links_to_folders_are_not_followed(tmp_path: Path, repository: bool) -> None:
    top = tmp_path / "top"
    make(tmp_path, "top/a.py", "plain/b.py", "repository/c.py")
    init(tmp_path / "repository")
    if repository:
        init(top)
    (top / "one").symlink_to("../plain")
    (top / "two").symlink_to("../repository")
    if repository:
        add(top, "a.py", "one")
    assert names_below(top) == ["a.py"]
    assert names_below(top / "two") == ["c.py"]


def test_an_empty_submodule_folder_ends(tmp_path: Path) -> None:
    init(tmp_path)
    make(tmp_path, "a.py")
    (tmp_path / "sub").mkdir()
    entry = "160000,0123456789012345678901234567890123456789,sub"
    subprocess.run(["git", "update-index", "--add", "--cacheinfo", entry], cwd=tmp_path, check=True)
    assert names_below(tmp_path) == ["a.py"]
    assert "no Python files" in problems_of(tmp_path / "sub")[0]


def test_without_git_the_folder_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    init(tmp_path)
    make(tmp_path, "a.py", "ignored.py")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    monkeypatch.setenv("PATH", "")
    assert names_below(tmp_path) == ["a.py", "ignored.py"]


@pytest.mark.parametrize("repository", [False, True])
def test_exclude_takes_patterns_as_in_a_gitignore(tmp_path: Path, repository: bool) -> None:
    if repository:
        init(tmp_path)
    make(tmp_path, "a.py", "old/a.py", "old/deep/b.py", "src/old/c.py", "src/a_pb2.py", "src/keep_pb2.py")
    assert names_below(tmp_path, "old/") == ["a.py", "src/a_pb2.py", "src/keep_pb2.py"]
    assert names_below(tmp_path, "/old", "*_pb2.py", "!keep_pb2.py") == ["a.py", "src/keep_pb2.py", "src/old/c.py"]
    assert names_below(tmp_path, "src/**/c.py", "*_pb2.py", "# not", "") == ["a.py", "old/a.py", "old/deep/b.py"]


def test_exclude_is_anchored_at_the_base_or_at_what_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "project/src/a.py", "project/src/b.py", "elsewhere/src/a.py", "elsewhere/b.py")
    base = tmp_path / "project"
    assert names_below(base / "src", "/src/a.py", base=base) == ["b.py"]
    assert names_below(tmp_path / "elsewhere", "/src/a.py", base=base) == ["b.py"]
    assert names_below(base / "src", "src/", base=base) == ["a.py", "b.py"]
    monkeypatch.chdir(base)
    assert discover([Path("src")], ["/src/a.py"]).files == (Path("src/b.py"),)
    assert discover([Path()], ["/src/a.py"]).files == (Path("src/b.py"),)
    assert discover([Path("../project/src")], ["/src/a.py"]).files == (Path("../project/src/b.py"),)


def test_a_pattern_that_is_none_is_a_configuration_error(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    with pytest.raises(ConfigurationError, match=r"exclude: '!' is not a pattern"):
        discover([tmp_path], ["ok", "!"])


def test_a_file_that_is_named_is_always_taken(tmp_path: Path) -> None:
    init(tmp_path)
    make(tmp_path, "script", ".hidden.py", "ignored.py", "build/b.py", "stub.pyi")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    files = [tmp_path / name for name in ("script", ".hidden.py", "ignored.py", "build/b.py", "stub.pyi")]
    found = discover(files, ["*"], base=tmp_path)
    assert found.files == tuple(sorted(files))
    assert found.problems == ()


def test_each_real_file_once_and_the_file_rather_than_its_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "real.py", "sub/b.py")
    (tmp_path / "alias.py").symlink_to("real.py")
    (tmp_path / "folder").symlink_to("sub")
    found = discover([tmp_path / "alias.py", tmp_path / "folder", tmp_path, tmp_path / "sub" / ".." / "real.py"], [])
    assert [os.path.realpath(file) for file in found.files] == [f"{tmp_path}/sub/b.py", f"{tmp_path}/real.py"]
    assert tmp_path / "alias.py" not in found.files
    assert discover([tmp_path / "alias.py"], []).files == (tmp_path / "alias.py",)
    monkeypatch.chdir(tmp_path)
    assert discover([Path(), Path("real.py"), Path("./sub")], []).files == (Path("real.py"), Path("sub/b.py"))


@pytest.mark.parametrize("repository", [False, True])
def test_loops_of_links_end(tmp_path: Path, repository: bool) -> None:
    if repository:
        init(tmp_path)
    make(tmp_path, "a.py", "sub/b.py")
    (tmp_path / "sub" / "up").symlink_to("..")
    (tmp_path / "sub" / "up.py").symlink_to("..")
    (tmp_path / "self.py").symlink_to("self.py")
    if repository:
        add(tmp_path, ".")
    found = discover([tmp_path], [])
    assert found.files == (tmp_path / "a.py", tmp_path / "sub" / "b.py")
    assert [str(problem) for problem in found.problems] == [f"{tmp_path}/self.py: not a regular file; exclude it"]


def test_what_cannot_be_looked_at_is_a_problem_and_the_others_go_on(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "empty/readme.txt")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "loop").symlink_to("loop")
    names = ("no\nsuch.py", "empty", "pipe.py", "loop", "a.py", "a.py/b.py")
    found = discover([tmp_path / name for name in names], [])
    assert found.files == (tmp_path / "a.py",)
    messages = [str(problem) for problem in found.problems]
    assert len(messages) == 5
    assert all("\n" not in message for message in messages)
    assert "no\\nsuch.py': No such file or directory" in messages[0]
    assert f"{tmp_path}/empty: no Python files" in messages[1]
    assert f"{tmp_path}/pipe.py: not a regular file" in messages[2]
    assert f"{tmp_path}/loop: " in messages[3]
    assert f"{tmp_path}/a.py/b.py: Not a directory" in messages[4]
    assert problems_of(tmp_path) == [f"{tmp_path}/pipe.py: not a regular file; exclude it"]


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        (b"x = 1", "utf-8", "x = 1"),
        (b"x = 1\r\ny = 2\r\n", "utf-8", "x = 1\r\ny = 2\r\n"),
        (b"x = 1\r\n\ny = '''\r\n'''\n", "utf-8", "x = 1\r\n\ny = '''\r\n'''\n"),
        (b"\xef\xbb\xbfx = '\xc3\xa9'\n", "utf-8", "x = 'é'\n"),
        (b"\xef\xbb\xbf# coding: utf-8\n", "utf-8", "# coding: utf-8\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso-8859-1", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/bin/x\r\n# vim: set fileencoding=cp1252 :\r\nx = '\x80'", "cp1252", None),
        ("# coding: shift_jis\nx = '表'\n".encode("shift_jis"), "shift_jis", "# coding: shift_jis\nx = '表'\n"),
        ("# coding: iso2022_jp\nx = '表'\n".encode("iso2022_jp"), "iso2022_jp", "# coding: iso2022_jp\nx = '表'\n"),
        ("x = '\u2028\x0c\x85'\n\x0c\ty\n".encode(), "utf-8", "x = '\u2028\x0c\x85'\n\x0c\ty\n"),
    ],
)
def test_text_is_what_python_reads_and_goes_back_byte_for_byte(
    tmp_path: Path, data: bytes, encoding: str, text: str | None
) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(data)
    source = read_source(path)
    assert source == SourceText(path, source.text, encoding, data.startswith(b"\xef\xbb\xbf"))
    with tokenize.open(path) as stream:
        assert source.text.replace("\r\n", "\n") == stream.read()
    assert text is None or source.text == text
    assert encode_source(source, source.text) == data
    assert encode_source(source, source.text + "z = 1\n") == data + b"z = 1\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x = 1\ny = 2\nz = '\xe9'\n", r"x.py:3: byte 0xe9 is not utf-8; save the file as UTF-8"),
        (b"x = '\xe9'\n", r"x.py:1: byte 0xe9 is not utf-8"),
        (b"\xff\xfex\x00", r"x.py:1: null byte"),
        (b"x = 1\n\n\x00", r"x.py:3: null byte"),
        (b"# coding: ascii\n\n'\xe9'\n", r"x.py:3: byte 0xe9 is not ascii"),
        (b"# coding: klingon\n", r"x.py:1: unknown encoding: klingon; correct the coding comment"),
        (b"#!/bin/x\n# coding: klingon\n", r"x.py:2: unknown encoding: klingon"),
        (b"\xef\xbb\xbf# coding: latin-1\n", r"x.py:1: encoding problem.*correct the coding comment"),
        (b"# coding: rot13\nx\n", r"x.py:1: rot13 is no encoding for Python source"),
        (b"# coding: undefined\nx\n", r"x.py:1: undefined is no encoding for Python source"),
        (b"# coding: utf-16-le\nxx", r"x.py:1: utf-16-le is no encoding"),
        (b"x = 1\ny = 2\rz = 3\n", r"x.py:2: carriage return without line feed"),
        (b"x = 1\r\r\n", r"x.py:1: carriage return without line feed"),
        (b"# coding: iso2022_jp\nx = 1\ny = '\x1b(J\x1b(B'\n", r"x.py:3: cannot be written back in iso2022_jp"),
    ],
)
def test_what_cannot_be_read_faithfully_is_refused_with_its_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=message) as failure:
        read_source(path)
    assert str(failure.value).startswith(f"{path}:")
    assert "\n" not in str(failure.value)


def test_unreadable_things_are_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(SourceError, match=r"pipe.py: not a regular file"):
        read_source(tmp_path / "pipe.py")
    with pytest.raises(SourceError, match=r"cannot be read: No such file"):
        read_source(tmp_path / "none.py")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file whose reading fails even for root")
def test_a_read_error_is_a_source_error() -> None:
    with pytest.raises(SourceError, match=r"/proc/self/mem: cannot be read: Input/output error"):
        read_source(Path("/proc/self/mem"))


def test_a_character_that_the_encoding_lacks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"# coding: latin-1\nx = 1\n")
    source = read_source(path)
    with pytest.raises(SourceError, match=r"x.py:3: '\\u20ac' cannot be written in iso-8859-1; save the file as UTF-8"):
        encode_source(source, source.text + "y = '€'\n")
