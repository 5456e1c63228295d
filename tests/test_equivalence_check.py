"""A whole check: the verdict on two texts of a small program, run in real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from gbfix.equivalence.check import check
from gbfix.equivalence.model import Job, Mode, Settings, Status, Target, Tolerance, Verdict

HEAD = "import torch\n\n\n"
BRANCH = HEAD + (
    "def f(x: torch.Tensor) -> torch.Tensor:\n"
    "    if {condition}:\n"
    "        y = x * 2.0\n"
    "    else:\n"
    "        y = x - 1.0\n"
    "    return y\n"
)
WHERE = HEAD + (
    "def f(x: torch.Tensor) -> torch.Tensor:\n    y = torch.where({condition}, x * 2.0, x - 1.0)\n    return y\n"
)


def checked(folder: Path, original: str, rewritten: str, inputs: str = "", **settings: Any) -> Verdict:
    file = folder / "program.py"
    file.write_text("raise RuntimeError('what is on disk is neither version')\n")
    chosen = Settings(**{"examples": 40, "compiled_examples": 4, **settings})
    target = Target("program:f", str(file), "program", str(folder), "f")
    return check(Job(target, {str(file): original}, {str(file): rewritten}, inputs=inputs, settings=chosen))


def floats(folder: Path) -> str:
    """A strategy of the user's own: float32 tensors alone."""
    name = f"given_inputs_of_{folder.name.replace('-', '_')}"
    text = "from gbfix.equivalence import tensors\n\nfloats = tensors(None, None)\n"
    (folder / f"{name}.py").write_text(text)
    return f"{name}:floats"


def test_right_rewrite_is_equal_and_both_sides_are_reached(tmp_path: Path) -> None:
    condition = "x.sum() > 0"
    verdict = checked(tmp_path, BRANCH.format(condition=condition), WHERE.format(condition=condition), floats(tmp_path))
    assert verdict.status is Status.EQUAL, verdict
    (branch,) = verdict.branches
    assert branch.true > 0
    assert branch.false > 0
    assert branch.condition.text == condition
    assert verdict.original is not None
    assert verdict.rewritten is not None
    assert (verdict.original.graphs, verdict.rewritten.graphs) == (2, 1)
    assert len(verdict.original.breaks) == 1
    assert not verdict.rewritten.breaks
    assert (verdict.original.fullgraph, verdict.rewritten.fullgraph) == (False, True)
    assert 0 < verdict.exercised.compiled < verdict.exercised.examples


def test_wrong_rewrite_differs_with_a_small_counterexample_that_runs_alone(tmp_path: Path) -> None:
    verdict = checked(
        tmp_path, BRANCH.format(condition="x.sum() > 0"), WHERE.format(condition="x.sum() > 1000"), floats(tmp_path)
    )
    assert verdict.status is Status.DIFFERENT
    assert verdict.counterexample is not None
    assert verdict.counterexample.differences[0].aspect == "value"
    script = tmp_path / "shows.py"
    script.write_text(verdict.counterexample.program)
    assert "gbfix" not in "".join(line for line in verdict.counterexample.program.splitlines() if "import" in line)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr


def test_narrow_side_is_reached_by_steering(tmp_path: Path) -> None:
    condition = "x.mean() > 777 and x.mean() < 779"
    verdict = checked(tmp_path, BRANCH.format(condition=condition), WHERE.format(condition="x.sum() > 9e9"))
    assert verdict.status is Status.DIFFERENT, verdict.branches


def test_side_that_no_input_reaches_is_no_pass(tmp_path: Path) -> None:
    condition = "x.sum() > 0 and x.sum() < 0"
    rewritten = HEAD + "def f(x: torch.Tensor) -> torch.Tensor:\n    return x - 1.0\n"
    verdict = checked(tmp_path, BRANCH.format(condition=condition), rewritten, floats(tmp_path), examples=20)
    assert verdict.status is Status.NOT_TESTED
    assert "line 5, `x.sum() > 0 and x.sum() < 0` was never true" in verdict.reason


def test_difference_in_compiled_mode_alone(tmp_path: Path) -> None:
    original = HEAD + "def f(x: torch.Tensor):\n    return x + 1\n"
    rewritten = HEAD + "def f(x: torch.Tensor):\n    return x + (2 if torch.compiler.is_compiling() else 1)\n"
    verdict = checked(tmp_path, original, rewritten)
    assert verdict.status is Status.DIFFERENT
    assert verdict.counterexample is not None
    assert verdict.counterexample.differences[0].mode is Mode.COMPILED
    assert "compiled" in verdict.reason


def test_difference_in_the_second_call(tmp_path: Path) -> None:
    counting = "CALLS = 0\n\n\ndef f(x: torch.Tensor):\n    global CALLS\n    CALLS += 1\n    return x + {0}\n"
    original, rewritten = (HEAD + counting.format(value) for value in ("1", "(1 if CALLS % 2 else 2)"))
    verdict = checked(tmp_path, original, rewritten)
    assert verdict.status is Status.DIFFERENT


def test_original_compiled_that_differs_by_itself_is_said_and_not_blamed_on_the_rewrite(tmp_path: Path) -> None:
    text = HEAD + "ADDED = {{True: 2, False: 1}}\n\n\ndef f(x: torch.Tensor):\n    return {}\n"
    original, rewritten = "x + ADDED[torch.compiler.is_compiling()]", "ADDED[torch.compiler.is_compiling()] + x"
    verdict = checked(tmp_path, text.format(original), text.format(rewritten))
    assert verdict.status is Status.EQUAL, verdict.reason
    assert "value" in verdict.baseline


def test_tolerance_makes_a_small_error_close_and_shows_it(tmp_path: Path) -> None:
    text = HEAD + "def f(x: torch.Tensor):\n    return {}\n"
    one, other = text.format("x * 0.1 * 0.3"), text.format("x * 0.3 * 0.1")
    inputs = floats(tmp_path)
    assert checked(tmp_path, one, other, inputs).status is Status.DIFFERENT
    verdict = checked(tmp_path, one, other, inputs, tolerance=Tolerance(1e-4, 1e-30))
    assert verdict.status is Status.CLOSE, verdict.reason
    assert verdict.largest_ulp is not None
    assert verdict.largest_ulp > 0


def test_end_of_the_rewritten_process_is_a_difference(tmp_path: Path) -> None:
    original = HEAD + "def f(x: torch.Tensor):\n    return x + 1\n"
    rewritten = (
        HEAD + "import os\n\n\ndef f(x: torch.Tensor):\n    if x.numel() > 5:\n        os._exit(3)\n    return x + 1\n"
    )
    verdict = checked(tmp_path, original, rewritten)
    assert verdict.status is Status.DIFFERENT
    assert verdict.counterexample is not None
    assert verdict.counterexample.differences[0].aspect == "ended"
    assert "exited with status 3" in verdict.reason


def test_hang_of_the_rewritten_program_is_a_difference(tmp_path: Path) -> None:
    original = HEAD + "def f(x: torch.Tensor):\n    return x + 1\n"
    rewritten = HEAD + "import time\n\n\ndef f(x: torch.Tensor):\n    time.sleep(600)\n"
    verdict = checked(tmp_path, original, rewritten, call_seconds=2.0, seconds=60.0)
    assert verdict.status is Status.DIFFERENT
    assert "did not answer" in verdict.reason


def test_original_that_always_raises_is_not_tested(tmp_path: Path) -> None:
    original = HEAD + "def f(x: torch.Tensor):\n    raise KeyError('no such thing')\n"
    verdict = checked(tmp_path, original, original + "\n", examples=10)
    assert verdict.status is Status.NOT_TESTED
    assert "KeyError" in verdict.reason
    assert "--inputs" in verdict.reason


def test_version_that_does_not_load_is_not_tested_and_named(tmp_path: Path) -> None:
    original = HEAD + "def f(x: torch.Tensor):\n    return x\n"
    verdict = checked(tmp_path, original, HEAD + "1 / 0\n")
    assert verdict.status is not Status.EQUAL
    assert "rewritten" in verdict.reason
    assert "program.py:4" in verdict.reason
    assert "ZeroDivisionError" in verdict.reason


def test_bench_times_both_versions(tmp_path: Path) -> None:
    original = HEAD + "def f(x: torch.Tensor):\n    print(end='')\n    return x + 1\n"
    verdict = checked(tmp_path, original, HEAD + "def f(x: torch.Tensor):\n    return x + 1\n", bench=True, examples=5)
    assert verdict.status is Status.EQUAL, verdict.reason
    assert verdict.bench is not None
    assert verdict.bench.low <= verdict.bench.ratio <= verdict.bench.high
    assert min(verdict.bench.original.steady) > 0


def test_side_that_is_only_taken_in_calls_that_fail_is_not_reached(tmp_path: Path) -> None:
    head = HEAD + "WEIGHT = torch.ones(16, 5)\n\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n"
    original = head + "    if x.sum() > 0:\n        return x @ WEIGHT * 2\n    return x * 1.0\n"
    verdict = checked(tmp_path, original, original.replace("* 2", "* 3"), floats(tmp_path))
    assert verdict.status is Status.NOT_TESTED, verdict.reason
    assert "line 8, `x.sum() > 0` was never true; after line 8 was true an operation failed (" in verdict.reason


def test_each_side_is_compiled_even_when_it_is_reached_late(tmp_path: Path) -> None:
    condition = "x.mean() > 777 and x.mean() < 779"
    wrong = BRANCH.format(condition=condition).replace("x * 2.0", "x * (3.0 if torch.compiler.is_compiling() else 2.0)")
    verdict = checked(tmp_path, BRANCH.format(condition=condition), wrong, compiled_examples=2)
    assert verdict.status is Status.DIFFERENT, verdict.reason


def test_examples_that_raise_are_told(tmp_path: Path) -> None:
    original = HEAD + "def f(x: torch.Tensor) -> torch.Tensor:\n    assert 0 < x.numel() < 9\n    return x + 1\n"
    rewritten = original.replace("x + 1", "1 + x")
    verdict = checked(tmp_path, original, rewritten, floats(tmp_path), examples=30, compiled_examples=1)
    assert verdict.status is Status.EQUAL, verdict.reason
    assert f"only {verdict.exercised.returned} of the examples returned" in verdict.reason


def test_time_limit_is_told(tmp_path: Path) -> None:
    original = (
        HEAD + "import time\n\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n    time.sleep(0.2)\n    return x + 1\n"
    )
    verdict = checked(tmp_path, original, original.replace("x + 1", "1 + x"), floats(tmp_path), seconds=4.0)
    assert verdict.status is Status.EQUAL, verdict.reason
    assert verdict.reason.endswith("; stopped by the time limit")


def test_original_that_differs_from_itself_is_not_blamed_on_the_rewrite(tmp_path: Path) -> None:
    original = HEAD + "import time\n\n\ndef f(x: torch.Tensor) -> tuple[float, torch.Tensor]:\n"
    original += "    return time.perf_counter(), x + 1\n"
    verdict = checked(tmp_path, original, original.replace("x + 1", "1 + x"), examples=5)
    assert verdict.status is Status.NOT_TESTED, verdict.reason
    assert verdict.reason.startswith("the original differs from itself when it is run twice (value of result[0]: ")
    verdict = checked(tmp_path, original, original.replace("x + 1", "x + 2"), examples=5)
    assert verdict.status is Status.DIFFERENT, verdict.reason
    assert verdict.reason.startswith("value of result[1] differs")


def test_counts_are_of_the_mode_that_reaches_the_rewritten_lines(tmp_path: Path) -> None:
    text = HEAD + (
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x: torch.Tensor) -> torch.Tensor:\n"
        "        if not self.training:\n"
        "            {}\n"
        "        return x + 1\n\n\n"
        "def f():\n    return Net()\n"
    )
    original = text.format("x = x + 1 if x.sum() > 0 else x - 1")
    rewritten = text.format("x = torch.where(x.sum() > 0, x + 1, x - 1)")
    file = tmp_path / "program.py"
    file.write_text(original)
    target = Target("program:Net", str(file), "program", str(tmp_path), "Net", "f")
    chosen = Settings(examples=20, compiled_examples=2)
    job = Job(target, {str(file): original}, {str(file): rewritten}, inputs=floats(tmp_path), settings=chosen)
    verdict = check(job)
    assert verdict.original is not None
    assert verdict.rewritten is not None
    assert (len(verdict.original.breaks), len(verdict.rewritten.breaks)) == (1, 0), verdict
    assert {call.training for call in verdict.counted} == {False}


def test_call_that_is_not_meant_and_fails_elsewhere_is_no_difference(tmp_path: Path) -> None:
    head = HEAD + "WEIGHT, BIAS = torch.ones(16, 5), torch.ones(16)\n\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n"
    original = head + "    product = x @ WEIGHT\n    total = x + BIAS\n    return product.sum() + total.sum()\n"
    rewritten = head + "    total = x + BIAS\n    product = x @ WEIGHT\n    return product.sum() + total.sum()\n"
    verdict = checked(tmp_path, original, rewritten, examples=10, compiled_examples=1)
    assert verdict.exercised.returned, verdict.reason
