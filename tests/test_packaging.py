"""The wheel holds the tracked files of the packages, and makes nothing importable but `gbfix`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE_LINE = re.compile(r'^"gbfix\.(\w+)" = "(\w+)"$', re.MULTILINE)
FOLDERS = [folder for _, folder in PACKAGE_LINE.findall((ROOT / "pyproject.toml").read_text())]


def _tracked(*paths: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *paths], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel made from a copy, so that no build folder of an earlier install gets into it."""
    copy = tmp_path_factory.mktemp("copy")
    for name in _tracked(*FOLDERS, "pyproject.toml", "README.md", "LICENSE"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(copy)],
        capture_output=True,
        check=True,
    )
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("target")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--target",
            str(target),
            str(wheel),
        ],
        check=True,
    )
    return target


def test_the_wheel_holds_the_tracked_files(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    packed = sorted(name for name in names if ".dist-info/" not in name)
    assert packed == sorted(f"gbfix/{name}" for name in _tracked(*FOLDERS))
    assert [name for name in names if name.endswith("/licenses/LICENSE")]


def test_every_package_is_typed() -> None:
    assert all((ROOT / folder / "py.typed").exists() for folder in FOLDERS)


def test_only_gbfix_becomes_importable(installed: Path) -> None:
    found = {path.name for path in installed.iterdir() if path.name != "bin" and path.suffix != ".dist-info"}
    assert found == {"gbfix"}
    # -I -S: neither this repository nor the environment of the tests is on the path.
    program = (
        f"import sys; sys.path.insert(0, {str(installed)!r})\n"
        "import importlib.util as u, gbfix.engine.model as m\n"
        f"assert m.__file__.startswith({str(installed)!r}), m.__file__\n"
        f"print([name for name in {[*FOLDERS, 'tests', 'golden', 'examples', 'typings']!r} if u.find_spec(name)])"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


def test_the_console_script_is_installed(installed: Path) -> None:
    assert [path.stem for path in (installed / "bin").iterdir()] == ["gbfix"]


def test_every_code_folder_is_a_package_with_a_link_for_type_checkers() -> None:
    code = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert code == set(FOLDERS)
    for folder in FOLDERS:
        link = ROOT / "typings" / "gbfix" / folder
        assert link.is_symlink(), link
        assert link.readlink().as_posix() == f"../../{folder}"
    assert {link.name for link in (ROOT / "typings" / "gbfix").iterdir()} == set(FOLDERS)
    listed = re.search(r"^packages = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert listed is not None
    assert re.findall(r'"gbfix\.(\w+)"', listed[1]) == FOLDERS


def test_continuous_integration_runs_the_test_command_of_the_readme() -> None:
    command = "python -m pytest -n 2"
    assert command in (ROOT / "README.md").read_text()
    assert f"\n{command}\n" in (ROOT / ".ci" / "run").read_text()
