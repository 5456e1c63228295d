from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gbfix.engine.diff import unified_diff

ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=stdin, env=ENVIRONMENT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q", ".")
    return folder


def applied(folder: Path, path: str, before: str, after: str) -> bytes:
    """The bytes of the file after `git apply` of the diff."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before.encode())
    try:
        git(folder, "apply", "--whitespace=nowarn", "-", stdin=unified_diff(path, before, after).encode())
        return file.read_bytes()
    finally:
        file.unlink()


LINES = st.lists(
    st.sampled_from(["a", "b", "", " ", "\t", "-- a/f", "+++ b/f", "\\ No newline", "é\u2028x\x0c\x85", "x\r"])
)
TEXTS = st.builds(
    lambda lines, end, last: end.join(lines) + (end if last else ""),
    LINES,
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
) | st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=TEXTS, after=TEXTS)
def test_git_applies_any_change(repository: Path, before: str, after: str) -> None:
    if before != after:
        assert applied(repository, "f.py", before, after) == after.encode()


@settings(max_examples=30, deadline=None)
@given(
    lines=st.lists(st.integers(0, 3).map(str), min_size=20, max_size=60),
    position=st.integers(0, 19),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_git_applies_a_small_change_in_a_long_file(repository: Path, lines: list[str], position: int, end: str) -> None:
    changed = [*lines[:position], "new", *lines[position + 1 :]]
    assert applied(repository, "f.py", end.join(lines), end.join(changed)) == end.join(changed).encode()


@pytest.mark.parametrize(
    ("before", "after"), [("", "a\n"), ("a\n", ""), ("", "a"), ("a", ""), ("a", "a\n"), ("a\n", "a")]
)
def test_empty_files_and_final_newlines(repository: Path, before: str, after: str) -> None:
    assert applied(repository, "f.py", before, after) == after.encode()


PATHS = [
    "plain.py",
    "folder/with space.py",
    'quo"te.py',
    "new\nline.py",
    "tab\tand space.py",
    "back\\slash.py",
    "größe/模型.py",
    "bell\x07.py",
    "delete\x7f.py",
    " leading.py",
]


@pytest.mark.parametrize("path", PATHS)
def test_git_applies_to_any_path(repository: Path, path: str) -> None:
    assert applied(repository, path, "a\n", "b\n") == b"b\n"


@pytest.mark.parametrize("path", PATHS)
def test_the_diff_is_the_one_git_writes(tmp_path: Path, path: str) -> None:
    git(tmp_path, "init", "-q", ".")
    before, after = "".join(f"{n}\n" for n in range(20)) + "end", "".join(f"{n % 15}\n" for n in range(20)) + "end"
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before.encode())
    git(tmp_path, "add", "-A")
    file.write_bytes(after.encode())
    theirs = git(tmp_path, "diff", "--no-color").decode().split("\n")
    ours = unified_diff(path, before, after).split("\n")
    assert [line for line in theirs if not line.startswith("index ")] == ours


def test_no_change_is_an_empty_diff() -> None:
    assert unified_diff("f.py", "a\n", "a\n") == ""


def test_carriage_returns_stay_and_a_missing_newline_is_marked() -> None:
    assert unified_diff("f.py", "a\r\nb", "a\r\nc") == (
        "diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n a\r\n"
        "-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )
