"""What a tired user does: each mistake is one clear line, exit 2, and the other files are still done."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest
from cli_project import SAFE, Project

BAD_FILES = {
    "syntax.py": (b"import torch\n\ndef f(:\n", "syntax.py:3: not valid Python"),
    "bytes.py": (b"import torch\nname = '\xff'\n", "bytes.py:2: byte 0xff is not utf-8"),
    "null.py": (b"import torch\n\0\n", "null.py:2: "),
    "picture.py": (b"\x89PNG\r\n\x1a\n\0\0", "picture.py:3: null byte"),
    "coding.py": (b"# coding: nonsense\nimport torch\n", "coding.py:1: "),
    "indent.py": (b"def f():\nreturn 1\n", "indent.py:2: not valid Python"),
    "python2.py": (b"import torch\nprint 'x'\n", "python2.py:2: not valid Python"),
}


@pytest.mark.parametrize("command", ["scan", "apply"])
@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_is_no_python(project: Project, command: str, name: str) -> None:
    data, message = BAD_FILES[name]
    path = project.write(name, data)
    project.write("choose.py", SAFE)
    done = project.gbfix(command, name, "choose.py")
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith(f"error: {message}")
    assert "Traceback" not in done.err
    assert path.read_bytes() == data
    assert "GBF101" in done.out + done.err
    assert ("torch.where" in project.read("choose.py")) == (command == "apply")


def test_no_such_path(project: Project) -> None:
    project.write("choose.py", SAFE)
    done = project.gbfix("apply", "nowhere.py", "choose.py", "nofolder/")
    assert done.code == 2
    assert done.err == "error: nowhere.py: No such file or directory\nerror: nofolder: No such file or directory\n"
    assert "torch.where" in project.read("choose.py")


def test_a_folder_without_python(project: Project) -> None:
    (project.root / "empty").mkdir()
    done = project.gbfix("scan", "empty")
    assert done.code == 2
    assert done.err.startswith("error: empty: no Python files here")


def test_a_read_only_file(project: Project) -> None:
    path = project.write("fixed.py", SAFE)
    project.write("choose.py", SAFE)
    path.chmod(stat.S_IRUSR)
    done = project.gbfix("apply")
    assert done.code == 2
    assert done.err.startswith("error: fixed.py: is read-only")
    assert project.read("fixed.py") == SAFE
    assert "torch.where" in project.read("choose.py")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_an_unreadable_file(project: Project) -> None:
    project.write("secret.py", SAFE).chmod(0)
    done = project.gbfix("scan", "secret.py")
    assert done.code == 2
    assert done.err.startswith("error: secret.py: cannot be read")


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_rule(project: Project, option: str) -> None:
    project.write("choose.py", SAFE)
    done = project.gbfix("apply", option, "GBF999")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: no rule fits 'GBF999'")
    assert len(done.err.splitlines()) == 1
    assert project.read("choose.py") == SAFE


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("slect = []", "unknown key 'slect' in [tool.gbfix]; did you mean \"select\"?"),
        ("select = 'GBF101'", "tool.gbfix.select must be a list of strings"),
        ("unsafe = 1", "tool.gbfix.unsafe must be true or false"),
        ("select = [", "not valid TOML"),
    ],
)
def test_a_bad_configuration(project: Project, table: str, message: str) -> None:
    project.write("choose.py", SAFE)
    project.write("pyproject.toml", f"[tool.gbfix]\n{table}\n")
    done = project.gbfix("apply")
    assert (done.code, done.out) == (2, "")
    assert "pyproject.toml" in done.err
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert project.read("choose.py") == SAFE


@pytest.mark.parametrize(
    "deep",
    [
        " + ".join(["x"] * 500),
        "x" + ".abs()" * 250,
        "-" * 500 + "x",
        " if x.ndim else ".join(["x"] * 300),
    ],
    ids=["sum", "calls", "signs", "ternaries"],
)
def test_deep_expressions(project: Project, deep: str) -> None:
    text = SAFE.replace("return z", f"return z + ({deep})")
    project.write("deep.py", text)
    project.write("choose.py", SAFE)
    done = project.gbfix("apply")
    assert done.code == 0, done.err
    assert "torch.where" in project.read("deep.py")
    assert "torch.where" in project.read("choose.py")


def test_too_deep_for_python_itself(project: Project) -> None:
    text = "import torch\nx = " + "(" * 500 + "1" + ")" * 500 + "\n"
    project.write("deep.py", text)
    project.write("choose.py", SAFE)
    done = project.gbfix("apply")
    assert done.code == 2
    assert done.err.startswith("error: deep.py:2: not valid Python: too many nested parentheses")
    assert len(done.err.splitlines()) == 1
    assert "torch.where" in project.read("choose.py")


@pytest.mark.parametrize("arguments", [("frobnicate",), ("scan", "--frobnicate"), ("apply", "--output-format", "xml")])
def test_a_mistake_in_the_command(project: Project, arguments: tuple[str, ...]) -> None:
    done = project.gbfix(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(project: Project) -> None:
    os.mkfifo(project.root / "pipe.py")
    done = project.gbfix("scan", "pipe.py")
    assert done.code == 2
    assert done.err.startswith("error: pipe.py: not a regular file")


def test_all_problems_at_once(project: Project) -> None:
    for name, (data, _) in BAD_FILES.items():
        project.write(name, data)
    project.write("choose.py", SAFE)
    done = project.gbfix("apply", ".", "nowhere.py")
    assert done.code == 2
    assert len(done.err.splitlines()) == len(BAD_FILES) + 1
    assert f", {len(BAD_FILES) + 1} errors" in done.out
    assert "torch.where" in project.read("choose.py")


@pytest.mark.parametrize("words", [("scan",), ("trace", "--", "-c", "1")], ids=" ".join)
def test_a_current_folder_that_was_removed(
    project: Project, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (project.root / "gone").mkdir()
    monkeypatch.chdir(project.root / "gone")
    (project.root / "gone").rmdir()
    command = (sys.executable, "-c", "from gbfix.cli.main import main; main()", *words)
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: the current folder was removed; go to another one\n")
