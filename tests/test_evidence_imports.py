"""Telling about imports, tried on real packages in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

from gbfix.evidence.imports import after_import


def run(code: str, folder: Path) -> str:
    """What a fresh interpreter prints for the code."""
    prelude = "import sys\nfrom gbfix.evidence.imports import after_import\nseen = []\n"
    return subprocess.run(
        [sys.executable, "-c", prelude + textwrap.dedent(code)],
        cwd=folder,
        text=True,
        check=True,
        capture_output=True,
    ).stdout


def test_tells_at_once_of_a_module_that_is_there() -> None:
    seen: list[str] = []
    after_import("pytest", lambda module: seen.append(module.__name__))
    assert seen == ["pytest"]


def test_tells_once_right_after_the_module_was_executed(tmp_path: Path) -> None:
    printed = run(
        """
        after_import("colorsys", lambda module: seen.append(callable(module.rgb_to_hsv)))
        print(seen, "colorsys" in sys.modules)
        import colorsys, importlib
        importlib.reload(colorsys)
        print(seen)
        """,
        tmp_path,
    )
    assert printed.splitlines() == ["[] False", "[True]"]


def test_everybody_else_sees_the_loader_that_the_module_would_have_had(tmp_path: Path) -> None:
    Path(tmp_path, "package").mkdir()
    Path(tmp_path, "package", "__init__.py").write_text("print(type(__loader__).__name__)\n")
    Path(tmp_path, "package", "inner.py").write_text("def function():\n    return 'here'\n")
    printed = run(
        """
        import importlib.machinery, importlib.util, inspect, pkgutil
        after_import("package", lambda module: seen.append(module.__name__))
        after_import("package.inner", lambda module: seen.append(module.__name__))
        spec = importlib.util.find_spec("package")
        print(type(spec.loader).__name__, spec.origin.endswith("__init__.py"), seen)
        from package import inner
        print(seen, type(inner.__spec__.loader) is importlib.machinery.SourceFileLoader)
        print(inner.__spec__.loader is inner.__loader__, "exec_module" in vars(inner.__loader__))
        print(inspect.getsource(inner.function).splitlines()[1].strip())
        print(pkgutil.get_data("package", "inner.py").splitlines()[0])
        """,
        tmp_path,
    )
    assert printed.splitlines() == [
        "SourceFileLoader True []",
        "SourceFileLoader",
        "['package', 'package.inner'] True",
        "True False",
        "return 'here'",
        "b'def function():'",
    ]


def test_a_module_that_does_not_exist_or_fails_is_as_without(tmp_path: Path) -> None:
    Path(tmp_path, "failing.py").write_text("raise LookupError('its own')\n")
    printed = run(
        """
        import importlib.util
        after_import("absent", seen.append)
        after_import("failing", seen.append)
        print(importlib.util.find_spec("absent"))
        for name in ("absent", "failing"):
            try:
                __import__(name)
            except Exception as error:
                print(type(error).__name__, error, name in sys.modules)
        print(seen)
        """,
        tmp_path,
    )
    assert printed.splitlines() == [
        "None",
        "ModuleNotFoundError No module named 'absent' False",
        "LookupError its own False",
        "[]",
    ]


def test_a_failing_action_spoils_neither_the_import_nor_the_next_action(tmp_path: Path) -> None:
    printed = run(
        """
        after_import("colorsys", lambda module: 1 / 0)
        after_import("colorsys", lambda module: seen.append("second"))
        import colorsys
        print(seen)
        """,
        tmp_path,
    )
    assert printed == "['second']\n"


def test_an_action_may_wait_for_another_module_and_a_module_may_import_one_waited_for(tmp_path: Path) -> None:
    Path(tmp_path, "outer.py").write_text("import colorsys\n")
    printed = run(
        """
        def outer(module):
            seen.append("outer")
            after_import("netrc", lambda module: seen.append("netrc"))
        after_import("outer", outer)
        after_import("colorsys", lambda module: seen.append("colorsys"))
        import outer, netrc
        print(seen)
        """,
        tmp_path,
    )
    assert printed == "['colorsys', 'outer', 'netrc']\n"


def test_modules_in_an_archive_and_in_a_namespace_package(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as file:
        file.writestr("archived.py", "value = 1\n")
        file.writestr("other.py", "value = 2\n")
    Path(tmp_path, "space").mkdir()
    Path(tmp_path, "space", "part.py").write_text("value = 3\n")
    printed = run(
        """
        sys.path.insert(0, "code.zip")
        for name in ("space.part", "other", "archived"):
            after_import(name, lambda module: seen.append(module.value))
        import archived, other, space.part
        print(seen)
        """,
        tmp_path,
    )
    assert printed == "[1, 2, 3]\n"
