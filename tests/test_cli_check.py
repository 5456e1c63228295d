from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import pytest
from cli_project import CLEAN, SAFE, Project

QUICK = ("--examples", "8", "--compiled-examples", "2")
WRONG = SAFE.replace("z = x + 1.0", "z = x + 2.0")
HANGS = SAFE.replace("    if x", '    open("started", "w").close()\n    while True:\n        pass\n    if x')
TWO = """import torch


def double(x: torch.Tensor):
    if x.sum() > 0:
        z = x * 2.0
    else:
        z = x + 1.0
    return z


@torch.compile(backend="eager")
@torch.no_grad()
def f(x: torch.Tensor):
    return double(x)


@torch.compile(backend="eager")
def untouched(x: torch.Tensor):
    return x + 1.0
"""
MAIN = """import torch

import model

for sign in (1.0, -1.0, 2.0):
    model.f(torch.ones(3) * sign)
    model.untouched(torch.ones(3))


def make():
    def inner(x):
        if x.sum() > 0:
            z = x * 2.0
        else:
            z = x + 1.0
        return z

    return [torch.compile(inner, backend="eager")]


with torch.no_grad():
    make()[0](torch.ones(3))
"""


def document(project: Project, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    done = project.gbfix("check", *arguments, *QUICK, "--output-format", "json")
    assert done.code in (0, 1), done.err
    verdicts: list[dict[str, Any]] = json.loads(done.out)["verdicts"]
    return done.code, verdicts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (),
            "error: nothing says what to check: name a target, such as model:step, or record a run first: gbfix trace",
        ),
        (("model:g",), "error: model.py: has no g at its top level; it defines f"),
        (("gone:f",), "error: there is no module gone"),
        (("gone.py:f",), "error: gone.py: there is no such file"),
        (("model",), "error: 'model' names no function or class"),
        (("broken:f",), "error: broken.py:2: not valid Python"),
        (("model:f", "--device", "tpu"), "error: --device tpu: is none of cpu, cuda and cuda:N"),
        (("model:f", "--overlay"), "there is no overlay here; `gbfix apply --overlay PATH` makes one"),
        (("model:f", "--original", "none"), "error: --original none: is no file, no folder, and no revision of git"),
        (("model:f", "--overlay", "--unsafe"), "error: --unsafe choose among pending fixes"),
        (("model:f", "--evidence", "gone.json"), "error: gone.json: no evidence can be read"),
        (("model:f", "--select", "XYZ"), "error: "),
        (("model:f", "--output", "no/report.txt"), "error: no/report.txt: there is no folder no; make it first"),
        (("model:f", "--write-test", "report.txt"), "name a Python file"),
        (("--inputs", "m:f"), "error: --inputs is for one target; name the target"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(project: Project, arguments: tuple[str, ...], message: str) -> None:
    project.write("model.py", SAFE)
    project.write("broken.py", "x = 1\ndef f(:\n")
    done = project.gbfix("check", *arguments)
    assert (done.code, done.out) == (2, "")
    last = done.err.splitlines()[-1]
    assert message in last
    assert last.startswith("error: ")
    assert "Traceback" not in done.err


def test_no_cuda_device_is_found_before_anything_is_checked(project: Project) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    project.write("model.py", SAFE)
    done = project.gbfix("check", "model:f", "--device", "cuda")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: --device cuda: PyTorch finds no CUDA device here")


def test_nothing_differs(project: Project) -> None:
    project.write("model.py", CLEAN)
    done = project.gbfix("check", "model:f")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("model:f: nothing to check: no fix is pending")


def test_the_command_itself_does_without_torch(project: Project) -> None:
    project.write("model.py", CLEAN)
    script = (
        "import sys\nfrom gbfix.cli.application import app\n"
        "try:\n    app(['check', 'model:f'])\nexcept SystemExit as error:\n    assert not error.code\n"
        "assert not {'torch', 'hypothesis'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=project.root, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_before_and_after_the_fix_is_applied(project: Project) -> None:
    project.write("model.py", SAFE)
    project.commit()
    code, (verdict,) = document(project, "model:f")
    assert (code, verdict["status"]) == (0, "equal"), verdict
    assert verdict["versions"] == "original: disk; rewritten: 1 pending fix"
    assert verdict["fixes"] == ["model.py:7 GBF101"]
    assert (verdict["original"]["graphs"], verdict["rewritten"]["graphs"]) == (2, 1)
    (branch,) = verdict["branches"]
    assert branch["condition"]["line"] == 7
    assert branch["true"] > 0
    assert branch["false"] > 0
    assert project.read("model.py") == SAFE
    assert project.git("status", "--porcelain").out == ""
    assert project.gbfix("apply").code == 0
    done = project.gbfix("check", "model:f", *QUICK)
    assert done.code == 0
    assert "both sides reached (checked earlier)\n" in done.out
    assert "  versions  original: before the last `gbfix apply`; rewritten: disk\n" in done.out


def test_a_wrong_rewrite_leaves_a_program_that_shows_it(project: Project) -> None:
    project.write("model.py", SAFE)
    project.write("wrong.py", WRONG)
    project.commit()
    done = project.gbfix("check", "model.py:f", "--rewritten", "wrong.py", *QUICK)
    assert done.code == 1, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("different   model:f  ")
    assert "  versions  original: disk; rewritten: wrong.py" in lines
    assert "  see it    python .gbfix/counterexamples/model.f.py" in lines
    shown = subprocess.run(
        [sys.executable, ".gbfix/counterexamples/model.f.py"], cwd=project.root, capture_output=True, check=False
    )
    assert b"Traceback" not in shown.stderr
    assert project.git("status", "--porcelain").out == ""


def test_without_a_target_all_that_a_fix_touches(project: Project) -> None:
    project.write("model.py", TWO)
    project.write("main.py", MAIN)
    project.commit()
    assert project.gbfix("trace", "--", "main.py").code == 0
    code, verdicts = document(project)
    found = {verdict["target"]: verdict for verdict in verdicts}
    assert code == 1
    assert list(found) == ["main:make.<locals>.inner", "model:f"]
    assert found["model:f"]["status"] == "equal", found["model:f"]
    assert found["model:f"]["inputs"] == "3 recorded calls"
    inner = found["main:make.<locals>.inner"]
    assert inner["status"] == "not tested"
    assert "it cannot be loaded by a name; gbfix check main:make --factory MODULE:FUNCTION" in inner["reason"]


def test_a_class_that_needs_arguments(project: Project) -> None:
    model = """import torch


class Net(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    @torch.compile
    @torch.no_grad()
    def forward(self, x: torch.Tensor):
        if x.sum() > 0:
            z = x * self.scale
        else:
            z = x + 1.0
        return z
"""
    project.write("model.py", model)
    done = project.gbfix("check", "model:Net", "--unsafe", *QUICK)
    assert done.code == 1
    assert "not tested  model:Net  Net needs arguments to be built (scale); name with --factory" in done.out


def test_ctrl_c_leaves_no_process(project: Project) -> None:
    project.write("model.py", HANGS)
    project.write("other.py", HANGS.replace("x + 1.0", "x + 3.0"))
    gbfix = str(Path(sysconfig.get_path("scripts")) / "gbfix")
    command = subprocess.Popen(
        [gbfix, "check", "model:f", "--rewritten", "other.py"],
        cwd=project.root,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not _started_in(project.root):
        assert time.monotonic() < until
        time.sleep(0.1)
    command.send_signal(signal.SIGINT)
    _, error = command.communicate(timeout=20)
    assert command.returncode == 130
    assert error.endswith(b"\ninterrupted; nothing was written\n")
    until = time.monotonic() + 10
    while _processes_of(project.root) and time.monotonic() < until:
        time.sleep(0.1)
    assert _processes_of(project.root) == []


def _started_in(root: Path) -> bool:
    return (root / "started").exists()


def _processes_of(root: Path) -> list[str]:
    """The processes whose current folder this is."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if os.readlink(entry) == str(root):
                found.append(entry.parent.name)
        except OSError:
            continue
    return found
