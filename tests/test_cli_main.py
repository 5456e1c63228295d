from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest
from cli_project import SAFE, Project

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
