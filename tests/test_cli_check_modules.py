from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.cli.check_modules import ModuleFile, imported_files, module_of_file, module_of_name
from gbfix.engine.model import ConfigurationError


def make(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    files = {
        "top.py": "from pkg import part\nimport other\nimport torch, json\n",
        "other.py": "def f():\n    import lazy\n",
        "lazy.py": "import top\n",
        "unused.py": "",
        "pkg/__init__.py": "from . import first\n",
        "pkg/first.py": "",
        "pkg/part.py": "from .inner import deep as d\nfrom ..nothing import x\n",
        "pkg/inner/__init__.py": "",
        "pkg/inner/deep.py": "import broken\n",
        "pkg/inner/unused.py": "",
        "broken.py": "def f(:\n",
        "space/mod.py": "from space.other import x\n",
        "space/other.py": "",
        "src/lib/__init__.py": "",
        "src/lib/mod.py": "",
    }
    make(root, files)
    return root


@pytest.mark.parametrize(
    ("file", "name", "search"),
    [
        ("top.py", "top", "."),
        ("pkg/inner/deep.py", "pkg.inner.deep", "."),
        ("pkg/inner/__init__.py", "pkg.inner", "."),
        ("space/mod.py", "mod", "space"),
        ("src/lib/mod.py", "lib.mod", "src"),
    ],
)
def test_a_file_is_named_from_above_its_outermost_package(tree: Path, file: str, name: str, search: str) -> None:
    assert module_of_file(tree / file) == ModuleFile(tree / file, name, (tree / search).resolve())


def test_a_link_is_the_file_it_leads_to(tree: Path) -> None:
    (tree / "link.py").symlink_to(tree / "pkg" / "first.py")
    assert module_of_file(tree / "link.py").name == "pkg.first"


@pytest.mark.parametrize("name", ["gone.py", "pkg", "a.b.py", "notes.txt"])
def test_what_is_no_module(tree: Path, name: str) -> None:
    make(tree, {"a.b.py": "", "notes.txt": ""})
    with pytest.raises(ConfigurationError, match=name.replace(".", r"\.")):
        module_of_file(tree / name)


@pytest.mark.parametrize(
    ("dotted", "file", "search"),
    [
        ("top", "top.py", "."),
        ("pkg", "pkg/__init__.py", "."),
        ("pkg.inner.deep", "pkg/inner/deep.py", "."),
        ("pkg.inner", "pkg/inner/__init__.py", "."),
        ("space.mod", "space/mod.py", "."),
        ("lib.mod", "src/lib/mod.py", "src"),
        ("lib", "src/lib/__init__.py", "src"),
    ],
)
def test_a_dotted_name_is_found_as_python_would(tree: Path, dotted: str, file: str, search: str) -> None:
    assert module_of_name(dotted, tree) == ModuleFile(tree / file, dotted, (tree / search).resolve())


def test_finding_a_module_runs_nothing(tree: Path) -> None:
    make(tree, {"loud/__init__.py": "raise SystemExit(3)\n", "loud/mod.py": "raise SystemExit(4)\n"})
    assert module_of_name("loud.mod", tree).file == tree / "loud" / "mod.py"


def test_installed_packages_are_found(tree: Path) -> None:
    found = module_of_name("typer.main", tree)
    assert found.file.name == "main.py"
    assert found.search.name == "site-packages"


@pytest.mark.parametrize(
    ("dotted", "message"),
    [
        ("none_such", "there is no module none_such"),
        ("none_such.mod", "there is no module none_such"),
        ("pkg.gone", r"no Python source for the module pkg\.gone"),
        ("sys", "no Python source for the module sys"),
        ("space", "no Python source for the module space"),
        ("a-b", "is no name of a module"),
        ("pkg..mod", "is no name of a module"),
    ],
)
def test_modules_that_are_not_there(tree: Path, dotted: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        module_of_name(dotted, tree)


def test_what_a_module_imports_wherever_the_import_stands(tree: Path) -> None:
    found = imported_files(module_of_file(tree / "top.py"))
    names = {file.relative_to(tree).as_posix() for file in found}
    assert names == {
        "top.py",
        "other.py",
        "lazy.py",
        "pkg/__init__.py",
        "pkg/first.py",
        "pkg/part.py",
        "pkg/inner/__init__.py",
        "pkg/inner/deep.py",
        "broken.py",
    }


def test_packages_without_an_init_file(tree: Path) -> None:
    found = imported_files(module_of_name("space.mod", tree))
    assert {file.name for file in found} == {"mod.py", "other.py"}


def test_modules_of_other_folders_when_the_own_one_has_none(tree: Path) -> None:
    make(tree, {"tests/test_it.py": "import lib.mod\nimport other\n", "tests/other.py": ""})
    module = module_of_file(tree / "tests" / "test_it.py")
    assert {file.name for file in imported_files(module)} == {"test_it.py", "other.py"}
    found = imported_files(module, [tree, tree / "src"])
    names = {file.relative_to(tree).as_posix() for file in found}
    assert names == {"tests/test_it.py", "tests/other.py", "src/lib/__init__.py", "src/lib/mod.py"}
