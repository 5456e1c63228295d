from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gbfix.engine.git import (
    changed_since,
    commit_of,
    commits_of,
    committed_bytes,
    dirty_files,
    repository_root,
    tracked_and_unignored,
)
from gbfix.engine.model import GbfixError

ODD_NAMES = ("plain.py", "two words.py", "größe.py", "line\nbreak.py", os.fsdecode(b"latin-\xe9.py"))


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def make_repository(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    return folder


def test_the_repository_of_files_folders_and_things_that_are_not_there(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "a b", "deep/er/x.py")
    assert repository_root(top) == top
    assert repository_root(top / "deep" / "er" / "x.py") == top
    assert repository_root(top / "none" / "such.py") == top
    assert repository_root(tmp_path) is None


def test_a_worktree_and_a_submodule_are_repositories_of_their_own(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top", "x.py")
    inner = make_repository(tmp_path / "inner", "y.py")
    git(top, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    git(top, "submodule", "--quiet", "add", str(inner), "sub")
    assert repository_root(tmp_path / "tree" / "x.py") == tmp_path / "tree"
    assert repository_root(top / "sub" / "y.py") == top / "sub"
    (top / "sub" / "y.py").write_text("y = 2\n")
    assert dirty_files(top / "sub", [top / "sub" / "y.py"]) == {top / "sub" / "y.py"}


def test_a_link_belongs_to_the_repository_of_its_target(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top", "x.py")
    link = tmp_path / "link.py"
    link.symlink_to(top / "x.py")
    assert repository_root(link) == top
    (top / "x.py").write_text("x = 2\n")
    assert dirty_files(top, [link]) == {link}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_modified_file_is_dirty_whatever_its_name(tmp_path: Path, name: str) -> None:
    top = make_repository(tmp_path / "größe 1", name, "sub/other.py")
    paths = [top / name, top / "sub" / "other.py"]
    assert dirty_files(top, paths) == frozenset()
    (top / name).write_text("x = 2\n")
    assert dirty_files(top, paths) == {top / name}


def test_staged_added_and_renamed_files_are_dirty_and_untracked_ones_are_not(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top", "staged.py", "oldclean.py", "clean.py")
    (top / "staged.py").write_text("x = 2\n")
    (top / "added.py").write_text("x = 1\n")
    git(top, "add", "staged.py", "added.py")
    git(top, "mv", "oldclean.py", "new.py")
    (top / "untracked.py").write_text("x = 1\n")
    paths = [top / name for name in ("staged.py", "added.py", "new.py", "untracked.py", "clean.py")]
    assert dirty_files(top, paths) == frozenset(paths[:3])


def test_variables_of_a_hook_do_not_lead_to_another_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_repository(tmp_path / "top", "x.py")
    other = make_repository(tmp_path / "other")
    (top / "x.py").write_text("x = 2\n")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert dirty_files(top, [top / "x.py"]) == {top / "x.py"}


def test_listing_separates_tracked_from_untracked_and_leaves_ignored_out(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top", *ODD_NAMES, "sub/tracked.py")
    (top / ".gitignore").write_text("ignored.py\n")
    (top / "sub" / "untracked.py").touch()
    (top / "sub" / "ignored.py").touch()
    listing = tracked_and_unignored(top)
    assert set(listing.tracked) == {*(top / name for name in ODD_NAMES), top / "sub" / "tracked.py"}
    assert set(listing.untracked) == {top / ".gitignore", top / "sub" / "untracked.py"}
    assert tracked_and_unignored(top / "sub").tracked == (top / "sub" / "tracked.py",)


def test_a_missing_or_failing_git_is_an_error_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_repository(tmp_path / "top", "x.py")
    (top / ".git" / "index").write_bytes(b"broken")
    with pytest.raises(GbfixError, match=r"top: git status failed: .*index") as failure:
        dirty_files(top, [top / "x.py"])
    assert "\n" not in str(failure.value)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GbfixError, match=r"top: git cannot be run: No such file"):
        tracked_and_unignored(top)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_what_a_commit_has_of_a_file_whatever_its_name(tmp_path: Path, name: str) -> None:
    top = make_repository(tmp_path / "top", f"in/{name}")
    file = top / "in" / name
    file.write_text("x = 2\n")
    assert committed_bytes(file) == b"x = 1\n"
    assert changed_since(top, "HEAD") == (file,)
    git(top, "commit", "--quiet", "--all", "-m", "second")
    assert [committed_bytes(file, commit) for commit in commits_of(file, 9)] == [b"x = 2\n", b"x = 1\n"]
    assert len(commits_of(file, 1)) == 1
    assert changed_since(top, "HEAD~1") == (file,)


def test_what_no_commit_has(tmp_path: Path) -> None:
    assert committed_bytes(tmp_path / "x.py") is None
    assert commits_of(tmp_path / "x.py", 9) == ()
    git(tmp_path, "init", "--quiet", "empty")
    assert committed_bytes(tmp_path / "empty" / "x.py") is None
    assert commits_of(tmp_path / "empty" / "x.py", 9) == ()
    top = make_repository(tmp_path / "top", "x.py")
    assert committed_bytes(top / "[x].py") is None
    assert committed_bytes(top / "x.py", "none-such") is None


def test_revisions_are_commits_or_nothing(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top", "x.py")
    full = commit_of(top, "HEAD")
    assert full is not None
    assert len(full) == 40
    assert commit_of(top, full[:8]) == full
    assert commit_of(top, "HEAD~7") is None
    assert commit_of(top, "--all") is None
    assert commit_of(top, "HEAD:x.py") is None


def test_line_ends_are_those_of_a_checkout(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top", "x.py")
    (top / ".gitattributes").write_text("*.py text eol=crlf\n")
    assert committed_bytes(top / "x.py") == b"x = 1\r\n"
