"""`gbfix fix`: whole loops over real programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from cli_project import Done, Project

STEPS = """import torch


@torch.compile(backend="eager")
@torch.no_grad()
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y


@torch.compile(backend="eager")
@torch.no_grad()
def g(x: torch.Tensor) -> torch.Tensor:
    y = x * 3.0
    print("halfway")
    return y + 1.0
"""

PROGRAM = """import torch
from steps import f, g

for value in (1.0, -1.0, 2.0):
    x = torch.full((3,), value)
    print(f(x).tolist(), g(x).tolist())
"""

RANDOM = """import torch


@torch.compile(backend="eager")
@torch.no_grad()
def f(x: torch.Tensor):
    if x.sum() > 0:
        z = x * torch.rand(2)
    else:
        z = x + 1.0
    return z


torch.manual_seed(0)
for value in (1.0, -1.0):
    print(f(torch.full((2,), value)).tolist())
"""


@pytest.fixture
def steps(project: Project) -> Project:
    """A committed project with a program that has two breaks in a module of its own."""
    project.write("steps.py", STEPS)
    project.write("program.py", PROGRAM)
    project.commit()
    return project


def fix(project: Project, *words: str, **more: dict[str, str]) -> Done:
    return project.gbfix("fix", *words, **more)  # type: ignore[arg-type]


def test_fixes_are_checked_tried_and_written_and_a_second_run_has_nothing_to_do(steps: Project) -> None:
    done = fix(steps, "--yes", "--", "program.py")
    assert done.code == 0, done.err
    assert "if x.sum() > 0" not in steps.read("steps.py")
    assert "torch._higher_order_ops.print" in steps.read("steps.py")
    assert steps.read("program.py") == PROGRAM
    assert "equal       steps:f" in done.out
    assert "equal       steps:g" in done.out
    table = {line[:26].strip(): line[26:].split() for line in done.out.splitlines()}
    assert table["break sites"] == ["2", "0"]
    assert table["graphs"][1] == "2"
    assert "2 fixes in 1 file, no graph break left, 1 round" in done.out

    again = fix(steps, "--yes", "--allow-dirty", "--output-format", "json", "--", "program.py")
    assert again.code == 0
    told = json.loads(again.out)
    assert (told["rounds"], told["files"], told["patch"], told["written"]) == (0, [], "", False)
    assert told["before"] == told["after"]

    assert steps.gbfix("undo").code == 0
    assert steps.read("steps.py") == STEPS


def test_in_a_pipe_the_patch_alone_goes_to_standard_output_and_nothing_is_written(steps: Project) -> None:
    done = fix(steps, "--within", "steps.py", "--patch", "kept.patch", "--", sys.executable, "program.py")
    assert done.code == 1
    assert steps.read("steps.py") == STEPS
    assert "nothing was written; --yes writes it" in done.err
    assert steps.read("kept.patch") == done.out
    assert steps.git("apply", "-", stdin=done.out.encode()).code == 0
    assert "torch.where" in steps.read("steps.py")


def shows(project: Project, told: str) -> None:
    """A program that shows something of the source of its compiled function."""
    program = PROGRAM.replace("import f, g", "import f").replace(", g(x).tolist()", "")
    project.write("program.py", f"import inspect, time\n{program}{told}\nprint(time.perf_counter_ns())\n")
    project.commit()


def test_a_fix_that_the_program_shows_is_dropped_and_what_differs_by_itself_is_not_compared(steps: Project) -> None:
    shows(steps, "print(len(inspect.getsource(f)))")
    done = fix(steps, "--yes", "--select", "GBF101", "--", "program.py")
    assert done.code == 1
    assert steps.read("steps.py") == STEPS
    assert "note: 1 of 5 lines of the program's output differ from run to run: they are not compared" in done.out
    assert "violated: the program stays the same: with it it writes" in done.out
    assert "nothing to fix, 1 graph break left" in done.out


def test_another_way_is_tried_where_the_first_does_not_hold(steps: Project) -> None:
    shows(steps, 'print("torch.where" in inspect.getsource(f))')
    done = fix(steps, "--yes", "--", "program.py")
    assert done.code == 0
    assert "torch.cond" in steps.read("steps.py")
    assert "2 fixes in 1 file, no graph break left" in done.out


def test_an_installed_library_is_fixed_in_copies_with_a_patch_for_its_authors(project: Project) -> None:
    library = project.write("env/lib/python3/site-packages/lib/steps.py", STEPS)
    project.write("env/lib/python3/site-packages/lib/__init__.py", "")
    project.write("program.py", PROGRAM.replace("from steps", "from lib.steps"))
    path = {"PYTHONPATH": str(library.parent.parent)}
    done = fix(project, "--yes", "--", "program.py", env=path)
    assert done.code == 0, done.err
    assert library.read_text() == STEPS
    assert "2 fixes in 1 installed file, no graph break left" in done.out
    run = project.gbfix("run", "--", "program.py", env=path)
    assert (run.code, run.err) == (0, "")

    patch = project.read(".gbfix/upstream.patch")
    project.write("upstream/lib/steps.py", STEPS)
    assert project.git("apply", "--directory", "upstream", "-", stdin=patch.encode()).code == 0
    assert "torch.where" in project.read("upstream/lib/steps.py")

    again = fix(project, "--yes", "--", "program.py", env=path)
    assert again.code == 0
    assert "nothing to fix, no graph break left" in again.out


def test_what_cannot_be_fixed_is_told_with_its_reason(project: Project) -> None:
    project.write("program.py", RANDOM)
    done = fix(project, "--yes", "--", "program.py")
    assert done.code == 1
    assert project.read("program.py") == RANDOM
    assert "nothing to fix, 1 graph break left" in done.out
    assert "gbfix     GBF101 tensor-value-branch, refused" in done.out


def test_a_file_with_uncommitted_changes_is_told_before_any_work_is_lost(steps: Project) -> None:
    steps.write("steps.py", STEPS + "# mine\n")
    done = fix(steps, "--yes", "--", "program.py")
    assert done.code == 2
    assert "steps.py: has uncommitted changes; commit or stash them, or pass --allow-dirty" in done.err
    assert steps.read("steps.py") == STEPS + "# mine\n"
    assert not (steps.root / ".gbfix" / "checks.json").exists()


@pytest.mark.parametrize(
    ("program", "words", "reason"),
    [
        ("import torch\nprint(torch.ones(2))\n", (), "the program compiled nothing with torch.compile"),
        (
            "raise ValueError('no data')\n",
            (),
            "never loaded PyTorch, so there is nothing to fix (it ended with status 1: ",
        ),
        ("import time\ntime.sleep(60)\n", ("--time-limit", "1"), "was not done after 1 seconds; --time-limit gives it"),
        ("", ("--within", "nowhere"), "--within nowhere: there is no such file or folder"),
    ],
)
def test_a_program_that_cannot_be_fixed_is_one_line(
    project: Project, program: str, words: tuple[str, ...], reason: str
) -> None:
    project.write("program.py", program)
    done = fix(project, *words, "--", "program.py")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert reason in done.err


def test_no_command_is_told(project: Project) -> None:
    done = fix(project)
    assert done.code == 2
    assert "write for example: gbfix fix -- train.py" in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_program_and_leaves_the_tree_alone(project: Project, number: int) -> None:
    project.write("program.py", "import os, time\nopen('pid', 'w').write(f'{os.getpid()}.')\ntime.sleep(60)\n")
    temporary = project.root / "temporary"
    temporary.mkdir()
    command = [str(Path(sysconfig.get_path("scripts")) / "gbfix"), "fix", "--yes", "--", "program.py"]
    child = subprocess.Popen(
        command, cwd=project.root, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE, text=True
    )
    pid = project.root / "pid"
    while not (pid.exists() and pid.read_text().endswith(".")):
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(number)
    _, told = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "interrupted; nothing was written" in told
    assert not list(temporary.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()[:-1]), 0)


LOOPED = """\
import torch


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.seen = 0

    def forward(self, x):
        if x.isnan().any():
            raise ValueError("NaN")
        {counts}
        return x.log() + self.linear.bias.sum()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


net = torch.compile(Net(), backend="eager")
print(sum(net(torch.ones(n, 3)).shape[0] for n in (2, 3)))
"""


@pytest.mark.parametrize(("counts", "graphs"), [("pass", 1), ("self.seen += 1", 2)])
def test_a_check_in_a_loop_goes_into_the_graph_where_the_run_with_it_changes_nothing(
    project: Project, counts: str, graphs: int
) -> None:
    project.write("net.py", LOOPED.format(counts=counts))
    fixed = project.gbfix("fix", "--yes", "--select", "GBF109", "--", "net.py")
    assert ("torch.library" in project.read("net.py")) == (graphs == 1), fixed.out + fixed.err


TRANSFORMED = """\
import torch


def check(x):
    if x.isnan().any():
        raise ValueError("NaN")
    return x + 1


def rows(x):
    return torch.func.vmap(lambda row: row * 2)(x)


@torch.compile(backend="eager")
def step(x):
    return rows({call})


print(step(torch.ones(2, 3)).sum())
"""


@pytest.mark.parametrize("call", ["check(x)", "torch.func.vmap(torch.sin)(check(x))"])
def test_a_transform_elsewhere_in_the_file_keeps_no_check_out_of_the_graph(project: Project, call: str) -> None:
    project.write("net.py", TRANSFORMED.format(call=call))
    done = project.gbfix("fix", "--yes", "--select", "GBF109", "--", "net.py")
    assert "torch.library" in project.read("net.py"), done.out + done.err


TOKENS = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(90, 4)

    def forward(self, ids, image):
        torch._check_with(ValueError, int((ids == 88).sum()) == 3, lambda: "other tokens than rows")
        torch._check(image.shape[0] == 3, lambda: "other rows")
        x = self.table(ids).masked_scatter((ids == 88).unsqueeze(-1), image)
        mask = ids == 77
        if mask.any():
            x[mask] = 2.5
        return x * 2


net = torch.compile(Net(), backend="eager")
for ids in ([[88, 88, 88, 4, 5]], [[88, 77, 88, 6, 88]]):
    print(net(torch.tensor(ids), torch.ones(3, 4)).shape)
"""


def test_a_check_uses_the_tokens_that_the_program_used(project: Project) -> None:
    project.write("net.py", TOKENS)
    done = project.gbfix("fix", "--yes", "--select", "GBF105", "--", "net.py")
    assert "if mask.any()" not in project.read("net.py"), done.out + done.err
