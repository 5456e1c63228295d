"""Functions that Dynamo gave up are watched while they run in Python: by monitoring from 3.12 on, by tracing before."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from observed import Observed, observe

PROGRAM = """
import gc, sys, threading, weakref
import torch

torch._dynamo.config.recompile_limit = 2


def compiled(function):
    return torch.compile(function, backend="eager")


@compiled
def loops(x):
    total = x.new_zeros(())
    for i in range(len(x)):
        if x[i].sum() > 0:  # LINE loops
            total = total + x[i].sum()
    return total


@compiled
def limited(x):
    return x + 1 if x.sum() > 0 else x - 1  # LINE limited


@compiled
def settles(x, flags):
    for flag in flags:
        if flag and x.sum() > 0:  # LINE settles
            x = x + 1
    return x


@compiled
def changes(x, sizes):
    for size in sizes:
        part = x[:size]
        if part.sum() > 0:  # LINE changes
            x = x + 1
    return x


@compiled
def reads_locals(x):
    for i in range(2):
        if x[i] > 0:  # LINE reads_locals
            x = x * 2
    return sorted(locals())


@compiled
def drops(x):
    for i in range(2):
        y = x * i
        if y.sum() > 0:  # LINE drops
            x = x + 1
        gone = weakref.ref(y)
        del y
        gc.collect()
        alive.append(gone() is not None)
    return x


@compiled
def fails(x):
    for i in range(2):
        if x[i] > 0 and i == 1:  # LINE fails
            raise KeyError("one")
    return x


@compiled
def over_lines(x):
    for i in range(3):
        if (
            x[i] > 0  # LINE over_lines
            and torch.add(
                x[i],
                1,
            ) > 0
        ):
            x = x + 1
    return x


@compiled
def in_a_class(x):
    class Local:
        pass

    return x + 1 if x.sum() > 0 else x  # LINE in_a_class


class Counted:
    calls = 0

    def __init__(self, limit):
        self.limit = limit

    @property
    def never(self):
        Counted.calls += 1
        return 1

    def __getattr__(self, name):
        Counted.calls += 1
        raise AttributeError(name)

    def __len__(self):
        Counted.calls += 1
        return 3

    def __repr__(self):
        Counted.calls += 1
        return "Counted"

    def __eq__(self, other):
        Counted.calls += 1
        return True

    __hash__ = None


def touches(counted, x):
    for i in range(2):
        if i > counted.limit and counted.never or x[i] > 0:  # LINE touches
            x = x + 1
    return x


def parts(x):
    for i in range(3):
        print("part", i)  # LINE parts
        yield x + i


@compiled
def consumes(x):
    y = x + 1
    return sum(parts(y))


alive = []
for _ in range(2):
    consumes(torch.ones(2))
for _ in range(4):
    loops(torch.tensor([1.0, -1.0, 2.0]))
with torch.no_grad():
    loops(torch.tensor([1.0]))
for dtype in (torch.float32, torch.float64, torch.float16, torch.int64, torch.float32):
    limited(torch.ones(2, dtype=dtype))
settles(torch.ones(2), [True] * 250)
changes(torch.ones(250), list(range(1, 251)))
print(reads_locals(torch.ones(2)))
drops(torch.ones(2))
print("alive", alive)
try:
    fails(torch.ones(2))
except KeyError as error:
    steps, entry = [], error.__traceback__
    while entry is not None:
        steps.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
        entry = entry.tb_next
    print(error, [step for step in steps if step[0] in ("<module>", "fails")])
over_lines(torch.ones(3))
in_a_class(torch.ones(3))
in_a_class(torch.ones(4))
compiled(touches)(Counted(5), torch.ones(2))
Counted.calls = 0
compiled(touches)(Counted(5), torch.ones(2))
print("calls of the class", Counted.calls)
loops_in_thread = threading.Thread(target=loops, args=(torch.ones(1, 2),))
loops_in_thread.start()
loops_in_thread.join()
print({name: count for name, count in torch._dynamo.utils.counters["frames"].items()})
for _ in range(300):
    touches(Counted(5), -torch.ones(2))
print(sys.gettrace() if sys.version_info >= (3, 12) else "")
"""


def line_of(name: str) -> int:
    marks = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith(f"# LINE {name}")]
    assert len(marks) == 1, name
    return marks[0]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("program") / "program.py"
    file.write_text(PROGRAM)
    return file


@pytest.fixture(scope="module")
def observed(script: Path) -> Observed:
    return observe(script, script.parent / "journals", values=True)


@pytest.fixture(scope="module")
def plain(script: Path) -> Observed:
    return observe(script, script.parent / "plain", values=False)


def eager(observed: Observed, line: int) -> list[dict[str, Any]]:
    """The eager observations of a line, each with its final count."""
    counts = {note["id"]: note["count"] for note in observed.notes("observed")}
    notes = observed.notes("observation", line=line, how="eager")
    return [{**note, "count": counts[note["id"]]} for note in notes]


def reasons(observed: Observed, line: int) -> list[str]:
    return [note["reason"] for note in observed.notes("unwatched", line=line)]


def dtypes(notes: list[dict[str, Any]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for note in notes:
        found[note["values"]["x"]["tensor"]["dtype"]] += note["count"]
    return found


def test_the_program_does_what_it_does_unobserved(observed: Observed, plain: Observed) -> None:
    assert (observed.status, observed.stdout) == (0, plain.stdout), observed.stderr
    assert "calls of the class" in observed.stdout
    assert observed.notes("problem") == []


def test_nothing_is_kept_alive(observed: Observed) -> None:
    assert "alive [False, False]" in observed.stdout


def test_an_exception_is_the_programs_own(observed: Observed) -> None:
    assert f"'one' [('<module>', {PROGRAM[: PROGRAM.index('    fails(torch')].count(chr(10)) + 1})" in observed.stdout


def test_every_iteration_is_counted(observed: Observed) -> None:
    notes = eager(observed, line_of("loops"))
    assert sum(note["count"] for note in notes if note["grad_enabled"] and len(note["values"]) == 3) >= 12
    assert [note["count"] for note in notes if not note["grad_enabled"]] == [1]
    assert {note["values"]["i"]["value"] for note in notes} == {"0", "1", "2"}


def test_calls_beyond_the_recompile_limit_are_seen(observed: Observed) -> None:
    assert dtypes(eager(observed, line_of("limited"))) == {"float16": 1, "int64": 1}


def test_facts_that_no_longer_change_count_as_settled(observed: Observed) -> None:
    notes = eager(observed, line_of("settles"))
    assert sum(note["count"] for note in notes) == 200
    assert reasons(observed, line_of("settles")) == []


def test_facts_that_still_change_are_told(observed: Observed) -> None:
    (reason,) = reasons(observed, line_of("changes"))
    assert reason == "more than 64 different observations"


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="reading a frame no longer changes what locals() returns")
def test_a_function_that_reads_its_locals_is_left_alone(observed: Observed) -> None:
    (reason,) = reasons(observed, line_of("reads_locals"))
    assert "reads its own locals" in reason
    assert eager(observed, line_of("reads_locals")) == []


def test_a_header_of_several_lines_counts_once(observed: Observed) -> None:
    line = PROGRAM.splitlines().index("        if (") + 1
    assert sum(note["count"] for note in eager(observed, line)) == 3
    assert eager(observed, line_of("over_lines")) == []


def test_no_code_of_a_class_is_run(observed: Observed, plain: Observed) -> None:
    assert observed.stdout == plain.stdout
    note = eager(observed, line_of("touches"))[0]
    assert note["values"]["counted"] == {"kind": "object", "type": "__main__.Counted"}
    assert note["values"]["counted.limit"]["value"] == "5"
    assert "counted.never" not in note["values"]


def test_a_function_is_no_longer_watched_once_it_was_seen_often(observed: Observed) -> None:
    notes = eager(observed, line_of("touches"))
    assert 200 <= sum(note["count"] for note in notes) <= 402


def test_another_thread(observed: Observed) -> None:
    seen = [note["values"]["x"]["tensor"]["shape"] for note in eager(observed, line_of("loops"))]
    assert [1, 2] in seen


def test_a_generator_that_python_runs_is_watched(observed: Observed) -> None:
    notes = eager(observed, line_of("parts"))
    assert {note["values"]["i"]["value"]: note["count"] for note in notes} == {"0": 2, "1": 2, "2": 2}


DEBUGGED = """
import sys
import torch

seen = set()

def debugger(frame, event, argument):
    seen.add(frame.f_code.co_name)
    return debugger

@torch.compile(backend="eager")
def loops(x):
    for i in range(2):
        if x[i] > 0:  # LINE
            x = x + 1
    return x

sys.settrace(debugger)
loops(torch.ones(2))
loops(torch.ones(2))
assert sys.gettrace() is debugger
sys.settrace(None)
print("loops" in seen)
"""


def test_a_debugger_keeps_its_trace_function(tmp_path: Path) -> None:
    script = tmp_path / "debugged.py"
    script.write_text(DEBUGGED)
    observed = observe(script, tmp_path / "journals", values=True)
    assert (observed.status, observed.stdout) == (0, "True\n"), observed.stderr
    (line,) = (number for number, text in enumerate(DEBUGGED.splitlines(), 1) if "# LINE" in text)
    if sys.version_info >= (3, 12):
        assert sum(note["count"] for note in eager(observed, line)) == 4
    else:
        (reason,) = reasons(observed, line)
        assert "a debugger or coverage tool" in reason
