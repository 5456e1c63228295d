"""The way into a process, also where no gbfix is installed: in an empty virtual environment."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from gbfix.evidence.journal import read_journal
from gbfix.evidence.launch import BOOTSTRAP, observed_environment
from gbfix.evidence.recorder import OBSERVERS

EVIDENCE = BOOTSTRAP.parent


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter with nothing but the standard library and a package that calls itself torch."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, symlinks=True)
    torch = Path(*folder.glob("lib/python*/site-packages"), "torch")
    torch.mkdir()
    Path(torch, "__init__.py").write_text("__version__ = '2.13.0'\n")
    return str(folder / "bin" / "python")


def run(python: str, code: str, journals: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code under observation."""
    journals.mkdir(exist_ok=True)
    variables = {**observed_environment(os.environ, journals=journals), **environment}
    return subprocess.run([python, "-c", code], env=variables, text=True, capture_output=True)


def test_it_records_where_gbfix_is_not_installed_and_does_not_make_it_importable(python: str, tmp_path: Path) -> None:
    code = """
import sys
try:
    import gbfix.evidence.journal
except ModuleNotFoundError as error:
    print(error)
import torch
print([name for name in sys.modules if "gbfix" in name], "msgspec" in sys.modules)
"""
    done = run(python, code, tmp_path / "journals")
    assert (done.stdout, done.stderr) == ("No module named 'gbfix'\n[] False\n", "")
    notes = list(read_journal(next((tmp_path / "journals").iterdir())))
    assert [note["kind"] for note in notes] == [
        "process",
        "torch",
        "looked",
        "end",
    ]  # and no problem: every observer is set up


def test_another_gbfix_of_the_program_stays_the_one_it_imports(python: str, tmp_path: Path) -> None:
    for name in ("", "evidence"):
        Path(tmp_path, "gbfix", name).mkdir()
    Path(tmp_path, "gbfix", "evidence", "journal.py").write_text("KINDS = 'theirs'\n")
    code = """
import gbfix.evidence.journal
import torch
import gbfix.evidence.journal as again
print(again.KINDS, again is gbfix.evidence.journal)
"""
    done = run(python, code, tmp_path / "journals", PYTHONPATH=f"{BOOTSTRAP}{os.pathsep}{tmp_path}")
    assert (done.stdout, done.stderr) == ("theirs True\n", "")
    notes = list(read_journal(next((tmp_path / "journals").iterdir())))
    assert [note["kind"] for note in notes] == ["process", "torch", "looked", "end"]


def test_a_journal_that_cannot_be_written_is_said_in_one_line(python: str, tmp_path: Path) -> None:
    script = f"import os\nos.mkdir(os.path.join({str(tmp_path)!r}, f'{{os.getpid()}}.jsonl'))\n"
    code = f"import sys, os\n{script}os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])"
    plain = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    starter = [sys.executable, "-S", "-c", code.replace("sys.executable", repr(python))]
    environment = observed_environment(plain, journals=tmp_path)
    done = subprocess.run(starter, env=environment, text=True, capture_output=True)
    assert (done.returncode, done.stdout) == (0, "1\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith("gbfix: this process is not observed: IsADirectoryError: ")


def test_it_is_silent_when_the_folder_for_notes_is_gone(python: str, tmp_path: Path) -> None:
    done = run(python, "print(1)", tmp_path, GBFIX_JOURNAL=str(tmp_path / "gone"))
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_it_leaves_the_path_alone_without_anything_to_do(python: str) -> None:
    code = "import sys; print(sys.path[1:])"
    plain = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    with_folder = {**plain, "PYTHONPATH": str(BOOTSTRAP)}
    outputs = [
        subprocess.run([python, "-c", code], env=environment, text=True, capture_output=True).stdout
        for environment in (plain, with_folder)
    ]
    assert outputs[0] == outputs[1] != ""


def test_its_syntax_is_that_of_old_interpreters() -> None:
    source = (BOOTSTRAP / "sitecustomize.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 6))


def recording_modules() -> Iterator[str]:
    """The modules that run inside the program, found by following the imports from those that start them."""
    waiting, seen = ["recorder", "overlay_hook", *OBSERVERS], set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield name
            waiting += [found.split(".")[2] for found in own_imports(name)]


def own_imports(name: str) -> list[str]:
    """What a recording module imports of gbfix, as dotted names. Wherever the import stands but under TYPE_CHECKING."""
    tree = ast.parse((EVIDENCE / f"{name}.py").read_text(encoding="utf-8"))
    found = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "gbfix.evidence":
            found += [f"gbfix.evidence.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gbfix"):
            found.append(str(node.module))
    return found


@pytest.mark.parametrize("name", sorted(recording_modules()))
def test_recording_modules_import_only_each_other_and_only_at_their_top(name: str) -> None:
    top = own_imports(name)
    assert all(found.startswith("gbfix.evidence.") for found in top)
    tree = ast.parse((EVIDENCE / f"{name}.py").read_text(encoding="utf-8"))
    inner = [
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gbfix")
    ]
    assert inner == []
