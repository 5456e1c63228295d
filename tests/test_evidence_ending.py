"""What runs when a process ends, in real processes."""

from __future__ import annotations

import subprocess
import sys
import textwrap

PRELUDE = """
import multiprocessing, os, sys
from gbfix.evidence.ending import at_end

def say(text):
    os.write(1, f"{text} {'parent' if os.getpid() == first else 'child'}\\n".encode())

first = os.getpid()
at_end(lambda: say("first"))
at_end(lambda: 1 / 0)
at_end(lambda: say("second"))
"""

PARENT = ["second parent", "first parent"]
CHILD = ["second child", "first child"]


def run(code: str) -> list[str]:
    """The lines that a program prints."""
    words = [sys.executable, "-W", "error", "-c", PRELUDE + textwrap.dedent(code)]
    done = subprocess.run(words, text=True, capture_output=True)
    assert "ending.py" not in done.stderr
    return done.stdout.splitlines()


def test_actions_run_once_the_last_one_first_and_a_failing_one_stops_none() -> None:
    assert run("") == PARENT


def test_they_run_after_those_of_the_program() -> None:
    assert run("import atexit; atexit.register(say, 'program')") == ["program parent", *PARENT]


def test_they_run_after_an_exception_and_after_exit() -> None:
    assert run("raise LookupError") == PARENT
    assert run("sys.exit(3)") == PARENT


def test_they_do_not_run_when_a_program_leaves_the_hard_way() -> None:
    assert run("os._exit(0)") == []


def test_a_forked_child_runs_them_for_itself() -> None:
    assert run("if os.fork() == 0: sys.exit()\nos.wait()") == CHILD + PARENT


def test_children_of_multiprocessing_run_them_too() -> None:
    code = """
    process = multiprocessing.get_context("fork").Process(target=say, args=("works",))
    process.start()
    process.join()
    """
    assert run(code) == ["works child", *CHILD, *PARENT]


def test_workers_of_a_pool_run_them_too() -> None:
    code = """
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.map(say, ["works"])
        pool.close()
        pool.join()
    """
    assert run(code) == ["works child", *CHILD, *PARENT]
