import os
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo.utils
from observed import Observed, observe

from gbfix.evidence import hits
from gbfix.evidence.hits import CALLS_BETWEEN_WINDOWS, CALLS_PER_WINDOW, PATIENCE, WINDOWS_PER_ENTRY
from gbfix.evidence.journal import Journal, read_journal

PROGRAM = """
import threading
import time
import warnings
import torch
import torch.autograd.profiler_legacy
from torch.profiler import ProfilerActivity, profile


pause = torch._dynamo.disable(lambda: time.sleep(0.05))

def split(x):
    y = x + 1
    torch._dynamo.graph_break()
    y = y * 2
    pause()
    return helper(y)

def helper(y):
    y = y.sin()
    print("", end="")
    return y

def without_operations(x):
    print("", end="")
    return x

def plain(x):
    return x + 1

def changing(x, n):
    return x * [0] * n if n < 0 else x * list(range(1, n + 1))[-1]

def late(x):
    return x.cos()

def short(x):
    return x.tan()

def profiles_itself(x):
    y = x + 1
    torch._dynamo.graph_break()
    with recording() as profiler:
        y = y * 2
    found.append(names(profiler))
    return y + 3

def compiled(function):
    return torch.compile(function, backend="eager")

x = torch.randn(4)
run = compiled(split)
for _ in range(7):
    run(x)
run = compiled(without_operations)
for _ in range(7):
    run(x)
run = compiled(plain)
for _ in range(200):
    run(x)
torch._dynamo.config.recompile_limit = 100
run = compiled(changing)
for n in range(1, 15):
    run(x, n)
run = compiled(late)
for _ in range(10):
    run(x)
for _ in range(100):
    run(x.double())
thread = threading.Thread(target=lambda run: [run(x) for _ in range(7)], args=[compiled(lambda t: t.exp())])
thread.start()
thread.join()
run_short = compiled(short)
for _ in range(4):
    run_short(x)
found = []
recording = lambda: profile(activities=[ProfilerActivity.CPU])
names = lambda profiler: {event.name for event in profiler.events()}
with recording() as profiler:
    run = compiled(lambda outside: outside.cosh())
    for _ in range(9):
        run(x)
assert sum(event.name == "aten::cosh" for event in profiler.events()) >= 9
for _ in range(9):
    run(x)

profiles = torch._dynamo.disable(profiles_itself)
inside = compiled(lambda x: profiles(x))
for _ in range(9):
    inside(x)
assert all("aten::mul" in each and "aten::add" not in each for each in found), found
warnings.simplefilter("ignore")
recording = torch.autograd.profiler_legacy.profile
names = lambda profiler: {event.name for event in profiler.function_events}
for _ in range(9):
    inside(x)
assert len(found) == 18 and all("aten::mul" in each and "aten::add" not in each for each in found), found
profiles = plain
for _ in range(9):
    inside(x)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    folder = tmp_path_factory.mktemp("hits")
    script = folder / "program.py"
    script.write_text(PROGRAM)
    before = os.getcwd()
    observed = observe(script, folder / "journals")
    assert observed.status == 0, observed.stderr
    assert not observed.notes("problem")
    assert os.getcwd() == before
    assert sorted(path.name for path in folder.iterdir()) == ["journals", "program.py"]
    return observed


def windows(run: Observed, mark: str) -> list[dict[str, Any]]:
    """The windows of the entry whose function is defined in the line with this text."""
    line = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if mark in text)
    (entry,) = run.notes("entry", function_line=line)
    return [window for window in run.notes("window") if set(window["calls"]) == {str(entry["entry"])}]


def fragments(run: Observed) -> dict[str, str]:
    """The code names of the compile ids."""
    metrics = (note["metadata"] for note in run.notes("trace") if "compilation_metrics" in note["metadata"])
    return {
        f"{each['frame_id']}/{each['frame_compile_id']}": each["compilation_metrics"]["co_name"] for each in metrics
    }


def test_each_fragment_of_a_warm_entry_is_counted_per_call(run: Observed) -> None:
    (window,) = windows(run, "def split")
    assert (list(window["calls"].values()), window["compiled"]) == ([3], False)
    names = fragments(run)
    counted = sorted(names[region].split("_at_")[0] for region in window["regions"])
    assert counted == ["helper", "split", *["torch_dynamo_resume_in_split"] * 2]
    assert {region["hits"] for region in window["regions"].values()} == {3}


def test_seconds_are_those_of_the_fragment_without_what_it_calls(run: Observed) -> None:
    (window,) = windows(run, "def split")
    names = fragments(run)
    slow = [names[region] for region, counted in window["regions"].items() if counted["seconds"] >= 3 * 0.05]
    assert len(slow) == 1
    assert slow[0].startswith("torch_dynamo_resume_in_split_at_")
    assert all(counted["seconds"] >= 0 for counted in window["regions"].values())


def test_fragments_without_operations_count(run: Observed) -> None:
    (window,) = windows(run, "def without_operations")
    assert [counted["hits"] for counted in window["regions"].values()] == [3]


def test_an_entry_that_stays_as_it_is_has_one_window(run: Observed) -> None:
    assert len(windows(run, "def plain")) == 1


def test_an_entry_that_compiles_all_the_time_is_counted_in_the_end(run: Observed) -> None:
    (window,) = windows(run, "def changing")
    assert window["compiled"] is True
    assert len(window["regions"]) == 3


def test_what_was_compiled_later_is_counted_later(run: Observed) -> None:
    first, second = windows(run, "def late")
    assert [region.partition("/")[2] for region in (*first["regions"], *second["regions"])] == ["0", "1"]


def test_the_thread_that_calls_is_the_one_that_is_recorded(run: Observed) -> None:
    (window,) = windows(run, "lambda t: t.exp()")
    assert [counted["hits"] for counted in window["regions"].values()] == [3]


def test_the_end_of_the_program_closes_a_window(run: Observed) -> None:
    (window,) = windows(run, "def short")
    assert list(window["calls"].values()) == [2]
    assert [counted["hits"] for counted in window["regions"].values()] == [2]


def test_the_profiler_of_the_program_comes_first(run: Observed) -> None:
    (window,) = windows(run, "lambda outside")
    assert list(window["calls"].values()) == [3]
    (window,) = windows(run, "lambda x: profiles(x)")
    assert list(window["calls"].values()) == [3]


QUIET = """
import torch
compiled = torch.compile(lambda x: x + 1, backend="eager")
for _ in range(5):
    compiled(torch.randn(4))
"""


def test_nothing_is_printed(tmp_path: Path) -> None:
    script = tmp_path / "quiet.py"
    script.write_text(QUIET)
    observed = observe(script, tmp_path / "journals")
    assert observed.notes("window")
    assert (observed.status, observed.stdout, observed.stderr) == (0, "", "")


def test_windows_of_an_entry_are_few_and_far_between(tmp_path: Path) -> None:
    counting = hits._Hits(Journal(tmp_path / "1.jsonl"))
    ends = []
    for call in range(1, 1000):
        counting.before(1)
        counting.after(1, compiled=True)
        if len(list(read_journal(tmp_path / "1.jsonl"))) > len(ends):
            ends.append(call)
    first = PATIENCE + CALLS_PER_WINDOW
    apart = CALLS_BETWEEN_WINDOWS + PATIENCE - 1 + CALLS_PER_WINDOW
    assert ends == [first + number * apart for number in range(WINDOWS_PER_ENTRY)]


def test_a_call_whose_end_was_not_told_is_not_counted(tmp_path: Path) -> None:
    counting = hits._Hits(Journal(tmp_path / "1.jsonl"))
    for _ in range(2):
        counting.before(1)
        counting.after(1, compiled=False)
    assert torch.autograd._profiler_enabled() is False
    counting.before(1)
    counting.after(1, compiled=False)
    counting.before(1)
    assert torch.autograd._profiler_enabled() is True
    counting.before(2)
    assert torch.autograd._profiler_enabled() is False
    counting.note_rest()
    (window,) = read_journal(tmp_path / "1.jsonl")
    assert window["calls"] == {"1": 2}


def test_a_forked_child_counts_for_itself(tmp_path: Path) -> None:
    counting = hits._Hits(Journal(tmp_path / "1.jsonl"))
    counting.before(1)
    counting.after(1, compiled=False)
    counting.before(1)
    counting.start_again()
    assert torch.autograd._profiler_enabled() is False
    counting.after(1, compiled=False)
    counting.note_rest()
    assert list(read_journal(tmp_path / "1.jsonl")) == []


def test_long_calls_are_not_recorded_for_their_operations_would_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = hits._Hits(Journal(tmp_path / "1.jsonl"))
    now, recorded = 0.0, list[bool]()
    monkeypatch.setattr("time.perf_counter", lambda: now)
    for entry, seconds in ((2, 2.0), (2, 2.0), *((1, seconds) for seconds in (2.0, 2.0, 0.1, 2.0, 0.1, 0.1, 0.1))):
        counting.before(entry)
        recorded.append(torch.autograd._profiler_enabled())
        now += seconds
        counting.after(entry, compiled=False)
    assert recorded == [False, False, False, False, False, True, False, True, True]
    counting.note_rest()
    (window, problem) = read_journal(tmp_path / "1.jsonl")
    assert window["calls"] == {"1": CALLS_PER_WINDOW}
    assert "longer than 0.5 s" in problem["message"]


def test_the_time_to_compile_makes_no_call_long() -> None:
    compiled = torch.compile(lambda x: x + 1, backend=lambda graph, _: time.sleep(0.3) or graph)
    compiled(torch.ones(2))  # imports
    clock = hits._Clock()
    clock.start()
    compiled(torch.ones(2, 3))
    assert clock.seconds() < 0.3
