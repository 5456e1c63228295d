from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from overlaid import Overlaid, lines

from gbfix.evidence.overlay import overlay_folder

MODULE = '''"""Text of the original."""


def say():
    return "original"


class Speaker:
    def say(self):
        return "original"


def fail():
    raise ValueError("original")
'''


@pytest.fixture
def project(tmp_path: Path) -> Overlaid:
    return Overlaid(Path(os.path.realpath(tmp_path)))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An interpreter of its own, without gbfix, and its site-packages."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    question = "import sysconfig; print(sysconfig.get_path('purelib'))"
    answer = subprocess.run([python, "-c", question], check=True, capture_output=True, text=True)
    return python, Path(answer.stdout.strip())


def test_whatever_imports_it(project: Overlaid, environment: tuple[Path, Path]) -> None:
    python, site_packages = environment
    library = os.path.relpath(site_packages, project.root)
    names = {
        "package": f"{library}/pack/__init__.py",
        "module in a package": f"{library}/pack/deep.py",
        "namespace package": f"{library}/space/part/m.py",
        "single module": f"{library}/single.py",
        "editable by .pth": "checkout/editable.py",
        "editable by finder": "other/layout/found.py",
        "beside the script": "local.py",
    }
    for name in names.values():
        project.write(name, MODULE)
    project.write(f"{library}/editable.pth", f"{project.root}/checkout\n")
    # What setuptools writes for an editable install, in short.
    project.write(
        f"{library}/_finder.py",
        "import sys\nfrom importlib.util import spec_from_file_location\n"
        "class Finder:\n"
        "    @staticmethod\n    def find_spec(name, path=None, target=None):\n"
        f"        path = '{project.root}/other/layout/found.py'\n"
        "        return spec_from_file_location(name, path) if name == 'found' else None\n"
        "sys.meta_path.append(Finder)\n",
    )
    project.write(f"{library}/finder.pth", "import _finder\n")
    project.write(
        "main.py",
        "import pack, pack.deep, space.part.m, single, editable, found, local, unrelated, json\n"
        "for m in (pack, pack.deep, space.part.m, single, editable, found, local, unrelated):\n"
        "    print(json.dumps([m.say(), m.__file__, m.__spec__.origin, m.__cached__, m.say.__code__.co_filename]))\n",
    )
    project.write("unrelated.py", MODULE)
    project.overlay(*names.values())
    plain = [json.loads(line) for line in lines(project.python("main.py", interpreter=str(python), overlay=False))]
    for pyc in project.root.rglob("*.pyc"):
        pyc.unlink()
    found = [json.loads(line) for line in lines(project.python("main.py", interpreter=str(python)))]
    assert [row[0] for row in found] == ["copy"] * 7 + ["original"]
    assert [row[1:4] for row in found] == [row[1:4] for row in plain]
    overlay = str(overlay_folder(project.root))
    assert all(row[4].startswith(overlay) and Path(row[4]).exists() for row in found[:7])
    assert project.loaded() == set(names.values())


def test_no_bytecode_is_written_or_used(project: Overlaid) -> None:
    project.write("site-packages/pack/__init__.py", MODULE)
    project.write("site-packages/pack/other.py", MODULE)
    program = "import pack, pack.other; print(pack.say(), pack.other.say())"
    assert lines(project.python("-c", program, overlay=False)) == ["original original"]
    cache = project.root / "site-packages/pack/__pycache__"
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in cache.iterdir()}
    assert len(before) == 2
    project.overlay("site-packages/pack/__init__.py")
    assert lines(project.python("-c", program)) == ["copy original"]
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in cache.iterdir()} == before
    for path in before:
        path.unlink()
    assert lines(project.python("-c", program)) == ["copy original"]
    assert [path.name.split(".")[0] for path in cache.iterdir()] == ["other"]
    assert lines(project.python("-c", program, overlay=False)) == ["original original"]


def test_source_and_lines_are_the_copys(project: Overlaid) -> None:
    project.write("site-packages/pack/m.py", MODULE)
    project.write("site-packages/pack/__init__.py", "")
    project.write("site-packages/pack/data.txt", "resource of the original")
    program = """
import importlib, importlib.resources, inspect, json, linecache, pickle, sys, traceback
from pack import m

try:
    m.fail()
except ValueError:
    shown = traceback.format_exc()
code = m.fail.__code__
print(json.dumps({
    "function": inspect.getsource(m.say),
    "class": inspect.getsource(m.Speaker),
    "method": inspect.getsource(m.Speaker.say),
    "module": inspect.getsource(m),
    "loader": m.__loader__.get_source("pack.m"),
    "class line": inspect.getsourcelines(m.Speaker)[1],
    "traceback": shown,
    "line": linecache.getline(code.co_filename, code.co_firstlineno),
    "module of code": inspect.getmodule(code).__name__,
    "file": inspect.getfile(m),
    "resource": (importlib.resources.files("pack") / "data.txt").read_text(),
    "pickled": pickle.loads(pickle.dumps(m.Speaker())).say(),
    "reloaded": importlib.reload(m).say(),
    "other class": inspect.getsource(json.JSONDecoder)[:17],
}))
"""
    (copy,) = project.overlay("site-packages/pack/m.py")
    (line,) = lines(project.python("-c", program))
    shown = json.loads(line)
    assert shown["function"] == 'def say():\n    return "copy"\n'
    assert shown["class"] == 'class Speaker:\n    def say(self):\n        return "copy"\n'
    assert shown["method"] == '    def say(self):\n        return "copy"\n'
    assert shown["module"] == shown["loader"] == copy.read_text()
    assert shown["class line"] == 10
    assert f'File "{copy}", line 16, in fail\n    raise ValueError("copy")' in shown["traceback"]
    assert shown["line"] == "def fail():\n"
    assert shown["module of code"] == "pack.m"
    assert shown["file"] == str(project.root / "site-packages/pack/m.py")
    assert shown["resource"] == "resource of the original"
    assert shown["pickled"] == shown["reloaded"] == "copy"
    assert shown["other class"] == "class JSONDecoder"


def test_a_link_to_the_original_leads_to_the_copy(project: Overlaid) -> None:
    project.write("real/m.py", MODULE)
    project.write("store/single.py", MODULE)
    (project.root / "site-packages").mkdir()
    (project.root / "site-packages/linked").symlink_to(project.root / "real")
    (project.root / "site-packages/other_name.py").symlink_to(project.root / "store/single.py")
    project.overlay("site-packages/linked/m.py", "site-packages/other_name.py")
    program = "import linked.m, other_name; print(linked.m.say(), other_name.say(), other_name.__file__)"
    assert lines(project.python("-c", program)) == [f"copy copy {project.root}/site-packages/other_name.py"]


def test_a_loader_that_changes_code_still_does(project: Overlaid) -> None:
    """Runtime type checkers and instrumentation derive from SourceFileLoader."""
    project.write("site-packages/m.py", MODULE)
    project.write(
        "main.py",
        "import importlib.machinery, importlib.util, sys\n"
        "class Loader(importlib.machinery.SourceFileLoader):\n"
        "    def source_to_code(self, data, path, *, _optimize=-1):\n"
        "        return super().source_to_code(data.replace(b'copy', b'changed copy'), path, _optimize=_optimize)\n"
        "path = 'site-packages/m.py'\n"
        "spec = importlib.util.spec_from_file_location('any_name', path, loader=Loader('any_name', path))\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "print(module.say())\n",
    )
    project.overlay("site-packages/m.py")
    assert lines(project.python("main.py")) == ["changed copy"]


def test_modules_and_folders_that_are_run(project: Overlaid) -> None:
    text = "import sys\nprint('original', __name__, __file__, __spec__.name, sys.argv, sys.path[0])\n"
    project.write("pack/tool.py", text)
    project.write("folder/__main__.py", text)
    plain = [
        lines(project.python("-m", "pack.tool", "a", overlay=False)),
        lines(project.python("folder", overlay=False)),
    ]
    project.overlay("pack/tool.py", "folder/__main__.py")
    found = [lines(project.python("-m", "pack.tool", "a")), lines(project.python("folder"))]
    assert [[line.replace("original", "copy") for line in rows] for rows in plain] == found
    assert found[0][0].startswith("copy __main__ ")


def test_optimisation_is_kept(project: Overlaid) -> None:
    project.write("site-packages/m.py", "assert False, 'original'\n")
    project.overlay("site-packages/m.py")
    assert lines(project.python("-O", "-c", "import m; print('passed')")) == ["passed"]
    assert "AssertionError: copy" in project.python("-c", "import m").err


def test_a_changed_original_is_refused(project: Overlaid) -> None:
    path = project.write("site-packages/m.py", MODULE)
    (copy,) = project.overlay("site-packages/m.py")
    project.write("site-packages/m.py", MODULE + "\n")
    advice = f"neither is loaded: run `gbfix apply --overlay {path}` again, or the program without the overlay"
    done = project.python("-c", "import m")
    message = f"{path} changed since its copy in the overlay was made; {advice}"
    assert (done.code, done.err.splitlines()[-1]) == (1, f"ImportError: {message}")
    project.write("site-packages/m.py", MODULE)
    copy.write_text(copy.read_text() + "\n")
    done = project.python("-c", "import m")
    edited = f"{copy}, the overlay's copy of {path}, was edited; {advice}"
    assert (done.code, done.err.splitlines()[-1]) == (1, f"ImportError: {edited}")
    copy.unlink()
    done = project.python("-c", "import m")
    lost = f"{copy}, the overlay's copy of {path}, cannot be read; {advice}"
    assert (done.code, done.err.splitlines()[-1]) == (1, f"ImportError: {lost}")
    assert project.loaded() == set()


def test_an_original_that_changes_while_the_program_runs(project: Overlaid) -> None:
    project.write("site-packages/m.py", MODULE)
    project.overlay("site-packages/m.py")
    program = (
        "import pathlib\npath = pathlib.Path('site-packages/m.py')\npath.write_text(path.read_text() + '#')\n"
        "try:\n    import m\nexcept ImportError as error:\n    print(error.name, error.path)\n"
    )
    assert lines(project.python("-c", program)) == [f"m {project.root}/site-packages/m.py"]
    (problem,) = [note for note in project.notes() if note["kind"] == "problem"]
    assert "site-packages/m.py changed since its copy in the overlay was made" in problem["message"]


def test_pytest_rewrites_its_own_files_as_before(project: Overlaid) -> None:
    project.write("site-packages/lib.py", MODULE)
    project.write(
        "test_it.py",
        "import lib\n\ndef test_copy():\n    assert lib.say() == 'copy'\n\ndef test_shown():\n"
        "    value = lib.say()\n    assert value == 'original'\n",
    )
    project.overlay("site-packages/lib.py")
    done = project.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert "1 failed, 1 passed" in done.out
    assert "AssertionError: assert 'copy' == 'original'" in done.out
    assert project.loaded() == {"site-packages/lib.py"}


def test_a_test_file_that_pytest_compiles_itself_is_the_original_in_every_respect(project: Overlaid) -> None:
    project.write(
        "test_it.py",
        "import inspect\n\nclass TestText:\n    word = 'original'\n\n"
        "    def test_it(self):\n        assert self.word in inspect.getsource(TestText)\n"
        "        assert self.word == 'original'\n",
    )
    project.overlay("test_it.py", change=lambda before: before.replace(b"original", b"copy"))
    done = project.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert (done.code, project.loaded()) == (0, set()), done.out


def test_workers_load_the_copies_too(project: Overlaid) -> None:
    project.write("site-packages/lib.py", MODULE)
    project.write(
        "main.py",
        "import multiprocessing, sys\n"
        "def work(_):\n    import lib\n    return lib.say()\n"
        "if __name__ == '__main__':\n"
        "    for method in ('fork', 'spawn', 'forkserver'):\n"
        "        with multiprocessing.get_context(method).Pool(1) as pool:\n"
        "            print(method, pool.map(work, [0]))\n",
    )
    project.overlay("site-packages/lib.py")
    assert lines(project.python("main.py")) == ["fork ['copy']", "spawn ['copy']", "forkserver ['copy']"]


def test_dynamo_reports_the_copy(project: Overlaid) -> None:
    project.write(
        "site-packages/lib.py",
        "import torch\n\n\n@torch.compile(backend='eager')\ndef f(x):\n    print('original')\n    return x + 1\n",
    )
    project.write("main.py", "import torch, lib\nlib.f(torch.ones(2))\n")
    (copy,) = project.overlay("site-packages/lib.py")
    os.environ["TORCH_LOGS"] = "graph_breaks"
    try:
        done = project.python("main.py")
    finally:
        del os.environ["TORCH_LOGS"]
    assert done.out == "copy\n"
    assert f"Graph break in user code at {copy}:8" in done.err
    assert f'File "{copy}", line 8, in f' in done.err
    assert "print('copy')" in done.err
