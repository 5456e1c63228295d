from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest
from cli_project import SAFE, Project

from gbfix.cli.output_format import OutputFormat
from gbfix.cli.plain_scan import read_plainly

COMMANDS = ("scan", "apply", "run", "undo", "rules", "explain")


def test_version(project: Project) -> None:
    assert project.gbfix("--version").out == f"gbfix {version('gbfix')}\n"


def test_help_names_every_command(project: Project) -> None:
    done = project.gbfix("--help")
    assert done.code == 0
    assert all(f"\n  {command} " in done.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(project: Project, command: str) -> None:
    done = project.gbfix(command, "-h")
    assert done.code == 0
    assert done.out.startswith(f"Usage: gbfix {command} ")


@pytest.mark.parametrize(
    "arguments", [["scan", "choose.py"], ["rules"], ["explain", "GBF101"], ["--version"], ["scan", "--help"]]
)
def test_looking_imports_neither_torch_nor_libcst(project: Project, arguments: list[str]) -> None:
    project.write("choose.py", SAFE)
    program = (
        "import sys; from gbfix.cli.main import main\n"
        f"sys.argv = ['gbfix', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code in (0, 1, None)\n"
        "print('loaded:', sorted({'torch', 'libcst', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project.root, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "loaded: []", done.stderr


SLOW = (
    "typer",
    "click",
    "pydantic",
    "rich",
    "pathspec",
    "filelock",
    "platformdirs",
    "difflib",
    "subprocess",
    "logging",
)
"""What takes long to load, and a scan of a file needs for nothing; of the standard library, too."""


@pytest.mark.parametrize("arguments", [["scan", "choose.py"], ["scan", "--exit-zero", "choose.py"], ["--version"]])
def test_what_is_run_most_loads_nothing_slow(project: Project, arguments: list[str]) -> None:
    project.write("choose.py", SAFE)
    program = (
        "import sys; before = set(sys.modules); from gbfix.cli.main import main\n"
        f"sys.argv = ['gbfix', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code in (0, 1, None)\n"
        f"print('loaded:', sorted({set(SLOW)!r} & (set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project.root, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "loaded: []", done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["choose.py"],
        ["broken.py"],
        ["choose.py", "missing.py"],
        [],
        ["--exit-zero", "choose.py"],
        ["choose.py", "--output-format", "json"],
        ["choose.py", "--output-format", "xml"],
        ["choose.py", "--output-format"],
        ["--no-cache", "-j", "2"],
        ["--jobs", "0", "choose.py"],
        ["--jobs", "two", "choose.py"],
        ["--exit-zro", "choose.py"],
        ["--", "choose.py"],
    ],
    ids=" ".join,
)
def test_a_plain_scan_says_what_one_read_by_typer_says(project: Project, words: list[str]) -> None:
    project.write("choose.py", SAFE)
    project.write("broken.py", "def f(:\n")
    plain = project.gbfix("scan", *words)
    typed = project.gbfix("scan", *(["--exclude", "nothing"] if "--" not in words else []), *words)
    assert (plain.code, plain.out, plain.err) == (typed.code, typed.out, typed.err)


@pytest.mark.parametrize("words", [["--select", "GBF101"], ["--jobs", "0"], ["--jobs"], ["--output-format", "xml"]])
def test_what_is_not_plain_is_left_to_typer(words: list[str]) -> None:
    assert read_plainly(words) is None


def test_plain_options_are_read() -> None:
    words = ["a", "--exit-zero", "-j", "3", "--no-cache", "--output-format", "json", "-"]
    options = {"exit_zero": True, "jobs": 3, "no_cache": True, "output_format": OutputFormat.JSON}
    assert read_plainly(words) == (["a", "-"], options)


def test_only_the_command_that_is_asked_for_is_loaded(project: Project) -> None:
    program = (
        "import sys; from gbfix.cli.application import app\n"
        "try:\n    app(['rules'])\nexcept SystemExit as end:\n    assert not end.code\n"
        "print(sorted(name for name in ('apply', 'fix', 'rules', 'trace') if f'gbfix.cli.{name}' in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project.root, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "['rules']", done.stderr


def test_an_unknown_command_is_told_with_the_nearest(project: Project) -> None:
    done = project.gbfix("scna")
    assert done.code == 2
    assert "No such command 'scna'" in done.err
    assert "scan" in done.err.partition("No such command")[2]


@pytest.mark.skipif(sys.platform == "win32", reason="there Typer reads every scan")
def test_a_reader_that_leaves_early_gets_no_traceback(project: Project) -> None:
    project.write("choose.py", SAFE)
    program = "import sys; from gbfix.cli.main import main; sys.argv = ['gbfix', 'scan', 'choose.py']; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as scan:
        assert scan.stdout is not None
        assert scan.stderr is not None
        scan.stdout.close()
        assert scan.stderr.read() == b""
        assert scan.wait() == 1
