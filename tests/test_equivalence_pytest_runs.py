from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from gbfix.equivalence.model import CheckError, Counts, Settings, Status, Verdict
from gbfix.equivalence.pytest_runs import check_test

MODEL = """
import torch

@torch.compile(backend="eager")
def step(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y
"""
RIGHT = """
import torch

@torch.compile(backend="eager")
def step(x):
    y = torch.where(x.sum() > 0, x * 2, x - 1)
    return y
"""
PLAIN = """
def step(x):
    return x * 2
"""
TESTS = """
import sys
import pytest
import torch
from model import step

@pytest.mark.parametrize("sign", [1, -1])
def test_step(sign, tmp_path):
    print("in", tmp_path, step)
    result = step(torch.ones(3) * sign)
    assert result.tolist() == ([2.0] * 3 if sign > 0 else [-2.0] * 3)
"""

Check = Callable[..., Verdict]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Check tests/test_it.py, whose test calls `step` of model.py."""

    def run(
        rewritten: str = PLAIN,
        *,
        original: str = PLAIN,
        tests: str = TESTS,
        name: str = "tests/test_it.py",
        file: str = "model.py",
        seconds: float = 240,
        on_disk: str = PLAIN,
    ) -> Verdict:
        (tmp_path / "tests").mkdir()
        (tmp_path / "model.py").write_text(on_disk)
        (tmp_path / "conftest.py").write_text("import sys, os; sys.path.insert(0, os.path.dirname(__file__))\n")
        (tmp_path / "tests" / "test_it.py").write_text(textwrap.dedent(tests))
        path = str((tmp_path / file).resolve())
        return check_test(name, {path: original}, {path: rewritten}, Settings(seconds=seconds), tmp_path)

    return run


def test_right_rewrite_is_equal_with_the_counts_of_both(check: Check) -> None:
    verdict = check(RIGHT, original=MODEL)
    assert verdict.reason == "2 tests pass with both versions"
    assert verdict.status is Status.EQUAL
    assert isinstance(verdict.original, Counts)
    assert isinstance(verdict.rewritten, Counts)
    assert [(site.file, site.line) for site in verdict.original.breaks] == [("model.py", 6)]
    assert verdict.rewritten.breaks == ()
    assert verdict.rewritten.graphs < verdict.original.graphs
    assert verdict.exercised.examples == 2
    assert [(branch.true, branch.false) for branch in verdict.branches] == [(1, 1)]
    assert verdict.torch
    assert verdict.backend == "eager"


def test_side_that_the_test_does_not_reach_is_not_passed(check: Check) -> None:
    verdict = check(RIGHT, original=MODEL, name="tests/test_it.py::test_step[1]")
    assert verdict.status is Status.NOT_TESTED
    assert verdict.reason == "side not reached: line 6, `x.sum() > 0` was never false"
    assert [(branch.true, branch.false) for branch in verdict.branches] == [(1, 0)]


def test_wrong_rewrite_differs_in_the_item_that_shows_it(check: Check) -> None:
    verdict = check(RIGHT.replace("x - 1", "x - 3"), original=MODEL, on_disk=MODEL)
    assert verdict.status is Status.DIFFERENT
    assert verdict.counterexample is not None
    (difference,) = verdict.counterexample.differences
    assert difference.where == "tests/test_it.py::test_step[-1]"
    assert difference.original == "passed"
    assert difference.rewritten.startswith("failed (builtins.AssertionError")
    assert "tests/test_it.py" in verdict.counterexample.program
    compile(verdict.counterexample.program, "program", "exec")


def test_original_may_be_another_text_than_the_one_on_disk(check: Check) -> None:
    tests = "import model\ndef test_it():\n    assert model.step(1) == 3\n"
    verdict = check(original=PLAIN.replace("2", "3"), tests=tests)
    assert verdict.status is Status.DIFFERENT


def test_test_that_fails_already_tests_nothing(check: Check) -> None:
    verdict = check(tests="def test_it():\n    import model\n    raise ValueError('no')\n")
    assert verdict.status is Status.NOT_TESTED
    assert verdict.reason == (
        "the test fails on the original already: tests/test_it.py::test_it: failed (builtins.ValueError: no)"
    )


def test_one_item_of_many_by_its_id(check: Check) -> None:
    tests = """
        import model, pytest
        @pytest.mark.parametrize("number", [0, 1])
        def test_step(number):
            assert model.step(1) == number + 1
    """
    verdict = check(PLAIN + "\n", tests=tests, name="tests/test_it.py::test_step[1]")
    assert verdict.reason == "1 test passes with both versions; nothing was compiled in it"


def test_printed_logged_and_warned_texts_count(check: Check) -> None:
    tests = """
        def test_it():
            import logging, os, sys, warnings, model
            extra = getattr(model, "EXTRA", "")
            logging.getLogger("mine").warning("log%s", extra)
            warnings.warn("warned" + extra)
        def test_printed():
            import model, os
            print("out" + getattr(model, "EXTRA", ""))
            os.system("echo err" + getattr(model, "EXTRA", "") + " >&2")
    """
    verdict = check(PLAIN + "EXTRA = '!'\n", tests=tests)
    assert verdict.counterexample is not None
    assert {each.where: (each.original, each.rewritten) for each in verdict.counterexample.differences} == {
        "log of tests/test_it.py::test_it": ("WARNING mine: log", "WARNING mine: log!"),
        "warnings of tests/test_it.py::test_it": ("UserWarning: warned\n", "UserWarning: warned!\n"),
        "stdout of tests/test_it.py::test_printed": ("out\n", "out!\n"),
        "stderr of tests/test_it.py::test_printed": ("err\n", "err!\n"),
    }


def test_what_changes_from_run_to_run_is_not_blamed_on_the_rewrite(check: Check) -> None:
    verdict = check(
        PLAIN + "X = 1\n", tests="def test_it():\n    import model, time\n    print(time.perf_counter_ns())\n"
    )
    assert verdict.status is Status.EQUAL
    assert "not compared, since it changes from run to run: stdout of tests/test_it.py::test_it" in verdict.reason
    assert "nothing was compiled in it" in verdict.reason


def test_test_that_does_not_load_the_files_tests_nothing(check: Check) -> None:
    verdict = check(PLAIN + "X = 1\n", tests="def test_it():\n    pass\n")
    assert (verdict.status, verdict.reason) == (Status.NOT_TESTED, "the test never loads model.py")


def test_file_of_tests_can_be_the_rewritten_one(check: Check) -> None:
    tests = "import model\ndef test_it():\n    assert value() == 1\ndef value():\n    return 1\n"
    verdict = check(tests.replace("return 1", "return 2"), original=tests, tests=tests, file="tests/test_it.py")
    assert verdict.status is Status.DIFFERENT


def test_processes_that_the_test_starts_load_the_rewrite_too(check: Check) -> None:
    tests = """
        def test_it():
            import subprocess, sys
            subprocess.run([sys.executable, "-c", "import model, sys; sys.exit(getattr(model, 'CODE', 0))"], check=True)
    """
    verdict = check(PLAIN + "CODE = 3\n", tests=tests)
    assert verdict.status is Status.DIFFERENT
    assert "CalledProcessError" in verdict.reason


def test_rewrite_that_cannot_be_loaded_is_different(check: Check) -> None:
    verdict = check(PLAIN + "raise RuntimeError('cannot load')\n")
    assert verdict.status is Status.DIFFERENT
    assert "cannot load" in verdict.reason


def test_end_of_the_process_is_a_difference(check: Check) -> None:
    tests = "def test_it():\n    import model, os\n    getattr(model, 'end', id)(3)\n"
    verdict = check(PLAIN + "from os import _exit as end\n", tests=tests)
    assert verdict.status is Status.DIFFERENT
    assert verdict.reason.endswith("ended: exited with status 3: it says nothing with the rewrite")


def test_hang_is_a_difference(check: Check) -> None:
    tests = "def test_it():\n    import model, time\n    getattr(model, 'hang', id)(3)\n"
    verdict = check(PLAIN + "def hang(_):\n    while True: pass\n", tests=tests, seconds=8)
    assert verdict.status is Status.DIFFERENT
    assert "did not end in time" in verdict.reason
    assert verdict.seconds < 30


def test_no_such_test_is_an_error_of_the_user(check: Check) -> None:
    with pytest.raises(CheckError, match=r"^pytest finds no such test from .*: ERROR.*test_none"):
        check(name="tests/test_it.py::test_none")
