from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_project import Done, Project

EXAMPLES = Path(__file__).parent.parent / "examples"
NOT_SMALL = "train_transformer.py"  # see test_example_training
RUN_ALL = """import runpy
import sys

for name in sys.argv[1:]:
    runpy.run_path(name, run_name="__main__")
"""
KILLED = """import os
import signal

import torch


@torch.compile(backend="eager")
def f(x):
    y = x * 2.0
    print("before", flush=True)
    return y + 1.0


f(torch.ones(3))
os.kill(os.getpid(), signal.SIGKILL)
"""
DECODE = """import torch


@torch.compile(backend="eager")
def step(x):
    y = x * 2.0
    print(end="")
    return y + 1.0


@torch.compile(backend="eager")
def prepare(x):
    y = x * 2.0
    print(end="")
    return y - 1.0


x = prepare(torch.ones(3))
for _ in range(40):
    x = step(x)
"""


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A repository in which one traced run of all examples has ended, with the TORCH_TRACE files and logs of it."""
    project = Project(tmp_path_factory.mktemp("examples"))
    assert project.git("init", "--quiet").code == 0
    shutil.copytree(EXAMPLES, project.root / "examples", ignore=shutil.ignore_patterns("__pycache__", NOT_SMALL))
    project.write("run_all.py", RUN_ALL)
    names = _names(project)
    traces = project.root / "traces"
    environment = {"TORCH_TRACE": str(traces), "TORCH_LOGS": "graph_breaks,recompiles"}
    done = project.gbfix("trace", "--", "run_all.py", *names, env=environment)
    project.write("program.out", done.out)
    project.write("program.err", done.err)
    assert done.code == 0, done.err
    return project


def _names(project: Project) -> list[str]:
    return [f"examples/{path.name}" for path in sorted((project.root / "examples").glob("*.py"))]


def _document(project: Project, *arguments: str) -> dict[str, Any]:
    done = project.gbfix("trace", "--output-format", "json", *arguments)
    assert done.code == 0, done.err
    loaded: dict[str, Any] = json.loads(done.out)
    return loaded


def _sites(rows: list[dict[str, Any]], key: str) -> set[tuple[str, int, str]]:
    return {(Path(row["place"]["file"]).name, row["place"]["line"], row[key]) for row in rows}


BREAKS = {
    ("guarded_division.py", 13, "GB0124"),
    ("item_arithmetic.py", 8, "GB0124"),
    ("print_between.py", 9, "GB0059"),
    ("scalar_branch.py", 9, "GB0124"),
    ("shape_report.py", 7, "GB0059"),
}


def test_the_examples_break_where_a_person_would_say(examples: Project) -> None:
    document = _document(examples, "--from", ".gbfix/evidence.json")
    assert _sites(document["breaks"], "gb") == BREAKS
    assert {Path(row["compiled"]["file"]).name for row in document["recompiles"]} == {"two_sizes.py"}
    assert document["recompiles"][0]["kind"] == "size"
    settled = document["recompiles_to_leave_alone"]
    assert {Path(row["compiled"]["file"]).name for row in settled} >= {"shape_branch.py", "scalar_branch.py"}


def test_each_row_says_what_gbfix_would_do(examples: Project) -> None:
    document = _document(examples, "--from", ".gbfix/evidence.json")
    actions = {Path(row["place"]["file"]).name: row["remedy"]["action"] for row in document["breaks"]}
    assert actions == {
        "guarded_division.py": "refused",
        "item_arithmetic.py": "safe",
        "print_between.py": "safe",
        "scalar_branch.py": "safe",
        "shape_report.py": "safe",
    }
    assert "dynamic=False" in document["recompiles"][0]["remedy"]["text"]


def test_the_program_writes_what_it_would_and_the_report_comes_after_on_standard_error(examples: Project) -> None:
    plain = examples._run([sys.executable, "run_all.py", *_names(examples)], b"", {})
    assert examples.read("program.out") == plain.out
    report = examples.read("program.err")
    assert "Graph breaks (5)" in report
    assert "Recompiles (1)" in report
    assert "examples/scalar_branch.py:9:8  in double_or_shift" in report


def test_a_torch_trace_of_the_same_run_gives_the_same_sites(examples: Project) -> None:
    document = _document(examples, "--from", "traces", "--evidence", "from_trace.json")
    assert _sites(document["breaks"], "gb") == BREAKS
    assert {Path(row["compiled"]["file"]).name for row in document["recompiles"]} >= {"two_sizes.py"}
    assert document["mode"] == "torch_trace"
    again = _document(examples, "--from", "from_trace.json")
    assert again == document


def test_saved_logs_give_the_same_lines_as_far_as_they_go(examples: Project) -> None:
    document = _document(examples, "--from", "program.err", "--evidence", "from_log.json")
    assert _sites(document["breaks"], "gb") == BREAKS
    assert document["totals"]["graphs"] is None
    assert any("log" in problem for problem in document["problems"])


def test_github_annotations(examples: Project) -> None:
    done = examples.gbfix("trace", "--from", ".gbfix/evidence.json", "--output-format", "github", "--top", "2")
    lines = done.out.splitlines()
    assert sum(line.startswith("::warning file=examples/") for line in lines) == 3
    assert done.err == ""


def test_the_report_in_a_file(examples: Project) -> None:
    done = examples.gbfix("trace", "--from", ".gbfix/evidence.json", "--output", "report2.txt")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert "Graph breaks (5)" in examples.read("report2.txt")


def test_a_break_of_each_step_ranks_above_one_of_the_start_up(project: Project) -> None:
    project.write("decode.py", DECODE)
    done = project.gbfix("trace", "--no-values", "--output-format", "json", "--", "decode.py")
    assert done.code == 0, done.err
    first, second = json.loads(done.out)["breaks"]
    assert (first["place"]["line"], first["cost"]["hits_per_call"], first["cost"]["calls"]) == (7, 1.0, 40)
    assert (second["place"]["line"], second["cost"]["steady"]) == (14, False)
    assert json.loads(project.read(".gbfix/evidence.json"))["observations"] == []


def test_a_killed_program_leaves_its_evidence(project: Project) -> None:
    project.write("killed.py", KILLED)
    done = project.gbfix("trace", "--", "killed.py")
    assert (done.code, done.out) == (137, "before\n")
    assert "SIGKILL" in done.err
    assert "killed.py:10:5  in f" in done.err
    assert json.loads(project.read(".gbfix/evidence.json"))["complete"] is False


def test_the_exit_status_is_the_program_s(project: Project) -> None:
    assert project.gbfix("trace", "--", "-c", "raise SystemExit(3)").code == 3
    done = project.gbfix("trace", "--", "-c", "raise ValueError('x')")
    assert done.code == 1
    assert "ValueError: x" in done.err


def test_options_after_the_command_belong_to_it(project: Project) -> None:
    program = ("python", "-c", "import sys; print(sys.argv[1:])", "--top", "x", "--", "-h")
    done = project.gbfix("trace", "--top", "3", *program)
    assert (done.code, done.out) == (0, "['--top', 'x', '--', '-h']\n")
    assert project.gbfix("trace", "--top", "3", "--", *program).out == done.out


def test_a_program_without_pytorch(project: Project) -> None:
    done = project.gbfix("trace", "--", "-c", "print('done')")
    assert (done.code, done.out) == (0, "done\n")
    assert "PyTorch" in done.err
    assert "Graph breaks" not in done.err
    assert json.loads(project.read(".gbfix/evidence.json"))["processes"]


def test_a_misspelt_command_takes_no_evidence_away(project: Project) -> None:
    project.write(".gbfix/evidence.json", "what an earlier run showed\n")
    done = project.gbfix("trace", "--", "-m", "no_such_module")
    assert done.code == 1
    assert ".gbfix/evidence.json is left as an earlier run wrote it" in done.err
    assert project.read(".gbfix/evidence.json") == "what an earlier run showed\n"


def test_a_program_that_compiles_nothing(project: Project) -> None:
    done = project.gbfix("trace", "--", "-c", "import torch")
    assert done.code == 0
    assert "nothing was compiled" in done.err


def test_an_old_pytorch(project: Project) -> None:
    project.write("old/torch/__init__.py", "__version__ = '2.5.1'\n")
    done = project.gbfix("trace", "--", "-c", "import torch; print(torch.__version__)", env={"PYTHONPATH": "old"})
    assert (done.code, done.out) == (0, "2.5.1\n")
    assert "2.6" in done.err


def test_gbfix_failing_after_the_program_is_exit_2_only_when_the_program_succeeded(project: Project) -> None:
    spoil = "import shutil, sys; shutil.rmtree('.gbfix'); open('.gbfix', 'w').close(); sys.exit(int(sys.argv[1]))"
    done = project.gbfix("trace", "--", "-c", spoil, "0")
    assert done.code == 2
    assert _is_one_error(done)
    (project.root / ".gbfix").unlink()
    assert project.gbfix("trace", "--", "-c", spoil, "3").code == 3


def _is_one_error(done: Done) -> bool:
    lines = done.err.strip().splitlines()
    return len([line for line in lines if line.startswith("error: ")]) == 1 and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "gbfix trace -- train.py"),
        (["--from", "traces", "--", "train.py"], "leave out --from or the command"),
        (["--", "missing.py"], "missing.py"),
        (["--from", "missing"], "missing: there is no such file or folder"),
        (["--from", "empty"], "empty"),
        (["--from", "prose.txt"], "prose.txt"),
        (["--from", "foreign.json"], "foreign.json"),
        (["--from", "cut.json"], "cut.json"),
        (["--evidence", "train.py", "--", "train.py"], "name another file"),
        (["--output", "missing/report.txt", "--", "train.py"], "there is no folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_exit_2(project: Project, arguments: list[str], text: str) -> None:
    project.write("train.py", "print('started')\n")
    project.write("prose.txt", "It was a dark and stormy night.\n")
    project.write("foreign.json", '{"name": "something else"}\n')
    project.write("cut.json", '{\n  "root": "/x",\n  "version": 1,\n  "breaks": [\n')
    (project.root / "empty").mkdir()
    done = project.gbfix("trace", *arguments)
    assert (done.code, done.out) == (2, "")
    assert text in done.err
    assert _is_one_error(done)
