from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from cli_project import SAFE, Done, Project

LIBRARY = '''"""A library with a branch on a tensor."""

import torch


class Gate(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x * 2.0
        else:
            y = x + 1.0
        return y
'''

PROGRAM = """
import sys, torch
from lib.gate import Gate

graphs = []

def counting(graph, example_inputs):
    graphs.append(graph)
    return graph.forward

gate = torch.compile(Gate(), backend=counting)
for value in (1.0, -1.0):
    print(gate(torch.full((3,), value)).tolist())
print(len(graphs), file=sys.stderr)
"""


@pytest.fixture
def library(project: Project) -> Project:
    """A project with an overlay for a library."""
    project.write("site-packages/lib/__init__.py", "")
    project.write("site-packages/lib/m.py", SAFE)
    assert project.gbfix("apply", "--overlay", "site-packages").code == 0
    return project


def run(project: Project, *words: str, **more: str) -> Done:
    path = {"PYTHONPATH": str(project.root / "site-packages")}
    return project.gbfix("run", *words, env=path, **more)


def test_a_break_in_a_library_is_fixed_without_touching_it(project: Project) -> None:
    library = project.write("site-packages/lib/gate.py", LIBRARY)
    project.write("program.py", PROGRAM)
    before = {path: path.read_bytes() for path in library.parent.iterdir()}
    done = project.gbfix("apply", "--overlay", "--unsafe", "--assume-compiled", "site-packages/lib/gate.py")
    assert done.code == 0, done.err
    environment = {"PYTHONPATH": str(project.root / "site-packages"), "PYTHONDONTWRITEBYTECODE": "1"}
    plain = project._run([sys.executable, "program.py"], b"", environment)
    fixed = project.gbfix("run", "--", sys.executable, "program.py", env=environment)
    assert plain.out == fixed.out == "[2.0, 2.0, 2.0]\n[0.0, 0.0, 0.0]\n"
    assert (plain.code, fixed.code) == (0, 0)
    assert int(fixed.err) == 1 < int(plain.err)
    assert {path: path.read_bytes() for path in library.parent.iterdir()} == before


def test_the_program_gets_its_words_and_gives_its_status(library: Project) -> None:
    library.write("end.py", "import sys\nprint(sys.argv, sys.stdin.read())\nsys.exit(3)\n")
    done = run(library, "--", "end.py", "--help", "-x", "--", "a b", stdin="typed")
    assert (done.code, done.out) == (3, "['end.py', '--help', '-x', '--', 'a b'] typed\n")
    done = run(library, "end.py", "--overlay")
    assert (done.code, done.out) == (3, "['end.py', '--overlay'] \n")
    done = run(library, "--", "-c", "import os; os.kill(os.getpid(), 9)")
    assert done.code == 128 + signal.SIGKILL


def test_copies_that_were_never_loaded_are_named(library: Project) -> None:
    library.write("mine.py", SAFE)
    library.gbfix("apply", "--overlay", "mine.py")
    done = run(library, "--", "-c", "import lib.m; print(lib.m.__file__)")
    assert done.out == f"{library.root}/site-packages/lib/m.py\n"
    assert done.err == "gbfix: mine.py: never loaded, so its copy in the overlay was not tried\n"


def test_a_program_that_keeps_the_overlay_out(library: Project) -> None:
    done = run(library, "--", "-I", "-c", "print('isolated')")
    assert (done.code, done.out) == (0, "isolated\n")
    assert done.err.splitlines() == [
        "gbfix: no Python process started with the overlay; -I, -E, -S and a PYTHONPATH of its own keep it out",
        "gbfix: site-packages/lib/m.py: never loaded, so its copy in the overlay was not tried",
    ]


def test_workers_count_too(library: Project) -> None:
    library.write(
        "main.py",
        "import multiprocessing\n"
        "def work(_):\n    import lib.m\n    return lib.m.f.__name__\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(work, [0]))\n",
    )
    done = run(library, "--", "main.py")
    assert (done.code, done.err) == (0, "")


def test_a_changed_original_is_refused_before_the_start(library: Project) -> None:
    path = library.write("site-packages/lib/m.py", SAFE + "\n")
    done = run(library, "--", "-c", "print('started')")
    assert (done.code, done.out) == (2, "")
    advice = f"run `gbfix apply --overlay {path}` again"
    assert done.err == f"error: {path}: changed since its copy in the overlay was made; {advice}\n"
    assert library.gbfix("apply", "--overlay", str(path)).code == 0
    assert run(library, "--", "-c", "import lib.m").code == 0


def test_one_that_changes_later_is_refused_even_when_the_program_catches_it(library: Project) -> None:
    program = (
        "import pathlib\npath = pathlib.Path('site-packages/lib/m.py')\npath.write_text(path.read_text() + '#')\n"
        "try:\n    import lib.m\nexcept ImportError:\n    print('went on')\n"
    )
    done = run(library, "--", "-c", program)
    assert (done.code, done.out) == (0, "went on\n")
    (line,) = done.err.splitlines()
    path = library.root / "site-packages/lib/m.py"
    assert line.startswith(f"gbfix: {path} changed since its copy in the overlay was made; neither is loaded: ")


def test_removing_the_folder_drops_the_copies(library: Project) -> None:
    import shutil

    shutil.rmtree(library.root / ".gbfix/overlay")
    done = run(library, "--", "-c", "print('started')")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"error: {library.root}/.gbfix/overlay: there is no overlay here; `gbfix apply --overlay PATH` makes one\n"
    )


def test_mistakes(library: Project) -> None:
    assert run(library).err == "error: no command given; write for example: gbfix run -- train.py --epochs 1\n"
    for words in (["--", "missing.py"], ["--", "no-such-program"]):
        done = run(library, *words)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"error: {words[1]}: no such ")


def test_another_python_without_gbfix(library: Project, tmp_path: Path) -> None:
    import subprocess

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    library.write(
        "site-packages/torch.py",
        "def compile(function): return function\ndef no_grad(): return compile\nTensor = object\n",
    )
    program = "import lib.m, os; print(os.path.relpath(lib.m.f.__code__.co_filename)); import gbfix"
    done = run(library, "--", str(python), "-c", program)
    assert done.out == os.path.join(".gbfix", "overlay", "lib", "m.py") + "\n"
    assert "ModuleNotFoundError: No module named 'gbfix'" in done.err


def test_a_trace_with_the_overlay_shows_what_is_left(project: Project) -> None:
    project.write("site-packages/lib/m.py", SAFE.replace("@torch.compile", '@torch.compile(backend="eager")'))
    project.write("main.py", "import torch, lib.m\nlib.m.f(torch.ones(3))\n")
    assert project.gbfix("apply", "--overlay", "site-packages").code == 0
    path = {"PYTHONPATH": str(project.root / "site-packages")}
    before = project.gbfix("trace", "--no-values", "--", sys.executable, "main.py", env=path)
    after = project.gbfix("trace", "--no-values", "--overlay", "--", sys.executable, "main.py", env=path)
    assert (before.code, after.code) == (0, 0)
    assert "1 break site" in before.err
    assert "no graph breaks" in after.err
    assert "never loaded" not in after.err


def test_what_a_trace_with_the_overlay_leaves_is_fixed_from_the_original(project: Project) -> None:
    branch = "    if x.sum() > 1:\n        x = x * 3.0\n    return x\n"
    source = SAFE.replace("@torch.compile", '@torch.compile(backend="eager")').replace("    return z\n", "")
    project.write("site-packages/lib/m.py", f"{source}    return g(z)\n\n\ndef g(x):\n{branch}")
    project.write("main.py", "import torch, lib.m\nfor _ in range(3):\n    lib.m.f(torch.ones(3))\n")
    assert project.gbfix("apply", "--overlay", "site-packages").code == 1  # one is unsafe
    path = {"PYTHONPATH": str(project.root / "site-packages")}
    assert project.gbfix("trace", "--", sys.executable, "main.py", env=path).code == 0
    before = project.read(".gbfix/evidence.json")
    after = project.gbfix("trace", "--overlay", "--", sys.executable, "main.py", env=path)
    assert ".gbfix/overlay/lib/m.py:" in after.err
    assert "$ gbfix apply --overlay --unsafe site-packages/lib/m.py\n" in after.err
    assert project.read(".gbfix/evidence.json") == before
    assert project.gbfix("apply", "--overlay", "--unsafe", "site-packages/lib/m.py").code == 0
    assert "no graph breaks" in project.gbfix("trace", "--overlay", "--", sys.executable, "main.py", env=path).err
