import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from observed import Observed, observe

from gbfix.evidence import entries
from gbfix.evidence.journal import Journal, read_journal

PROGRAM = """
import copy
import os
import threading
import torch


def inner(x):
    print("", end="")
    return x + 1

compiled_inner = torch.compile(inner, backend="eager")  # LINE inner


@torch.compile(backend="eager", fullgraph=True, dynamic=True)  # LINE whole
def whole(x, *more, scale=1):
    return x.sin() * scale


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x, flag=True):
        y = self.linear(x)
        print("", end="")
        return compiled_inner(y)


net = Net()
compiled_net = torch.compile(net, backend="eager")  # LINE net
own = Net()
own.compile(backend="eager")  # LINE own


@torch.compile(backend="eager")
class Doubled(torch.nn.Module):
    def forward(self, z):
        return z * 2


def fail(x):
    if x.shape[0] == 1:
        raise ValueError("one")
    return x * 2

compiled_fail = torch.compile(fail, backend="eager")
unused = torch.compile(lambda x: x, backend="eager")  # LINE unused

x = torch.randn(3, 4)
assert compiled_inner._torchdynamo_orig_callable is inner
assert compiled_inner.__code__.co_filename.endswith("eval_frame.py")
for count in range(40):
    whole(x, x, scale=2)
compiled_net(x)
with torch.no_grad():
    net.eval()
    compiled_net(x, flag=False)
own(x, flag=False)
Doubled()(x)
Doubled()(x)
for rows in (1, 2, 1):
    try:
        compiled_fail(torch.randn(rows, 4))
    except ValueError:
        pass
whole(torch.randn(9, 4, 2))

together = torch._dynamo.optimize("eager")
first = together(lambda p: p + 1)
second = together(lambda q: q * 2)
first(x)
second(x)
second(x)

again = copy.deepcopy(compiled_net)  # LINE again
again(x)

empty = torch.compile(lambda number: number, backend="eager", fullgraph=True)
try:
    empty(3)
except RuntimeError as error:
    assert "no compiled frames" in str(error)
first(x)

for count in range(70):
    torch.compile(lambda x: x - 1, backend="eager")  # LINE many


def threaded(t):
    print("", end="")
    return t.tan()

compiled_threaded = torch.compile(threaded, backend="eager")
threads = [threading.Thread(target=lambda: [compiled_threaded(x) for _ in range(500)]) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))  # LINE cond
torch.export.export(net, (x,))  # LINE export
exec(compile("generated = torch.compile(torch.sin, backend='eager')", "<string>", "exec"))

child = os.fork()
if child == 0:
    compiled_inner(x)
    compiled_inner(x)
    import atexit
    atexit._run_exitfuncs()
    os._exit(0)
os.waitpid(child, 0)
print("done")
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    folder = tmp_path_factory.mktemp("entries")
    script = folder / "program.py"
    script.write_text(PROGRAM)
    observed = observe(script, folder / "journals")
    assert (observed.status, observed.stdout) == (0, "done\n"), observed.stderr
    assert not observed.notes("problem")
    return observed


def line_of(mark: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith(f"# LINE {mark}"))


def entry(run: Observed, function: str, **fields: object) -> dict[str, Any]:
    (found,) = run.notes("entry", function=function, **fields)
    return found


def total(run: Observed, entry: dict[str, Any]) -> dict[str, Any]:
    return run.notes("calls", entry=entry["entry"])[-1]


def calls(run: Observed, entry: dict[str, Any]) -> list[dict[str, Any]]:
    return run.notes("call", entry=entry["entry"])


def test_an_entry_says_where_and_how_it_was_compiled(run: Observed) -> None:
    found = entry(run, "inner")
    assert Path(found["file"]).name == Path(found["function_file"]).name == "program.py"
    assert (found["line"], found["function_line"]) == (line_of("inner"), line_of("inner") - 4)
    assert (found["backend"], found["fullgraph"], found["dynamic"]) == ("eager", False, "None")


def test_a_decorator_with_options(run: Observed) -> None:
    found = entry(run, "whole")
    assert found["line"] == line_of("whole")
    assert (found["backend"], found["fullgraph"], found["dynamic"]) == ("eager", True, "True")


def test_modules_are_known_by_their_forward_however_they_were_compiled(run: Observed) -> None:
    places = [(found["line"], found["function_line"]) for found in run.notes("entry", function="Net.forward")]
    forward = 1 + PROGRAM[: PROGRAM.index("    def forward(self, x, flag")].count("\n")
    assert places == [(line_of(mark), forward) for mark in ("net", "own", "again")]


def test_all_calls_are_counted_and_the_same_arguments_noted_once(run: Observed) -> None:
    whole = entry(run, "whole")
    assert [note["call"] for note in calls(run, whole)] == [1, 41]
    assert total(run, whole)["count"] == 41
    assert total(run, whole)["arguments"] == {"1": 32, "41": 1}  # the 41st compiled again


def test_arguments_have_the_names_of_the_signature(run: Observed) -> None:
    arguments = calls(run, entry(run, "whole"))[0]["arguments"]
    assert list(arguments) == ["x", "more[0]", "scale"]
    assert arguments["x"]["tensor"]["shape"] == [3, 4]
    assert arguments["scale"]["value"] == "2"


def test_the_module_is_an_argument_as_well(run: Observed) -> None:
    first, second = calls(run, entry(run, "Net.forward", line=line_of("net")))
    assert list(first["arguments"]) == ["self", "x"]
    items = dict(first["arguments"]["self"]["items"])
    assert items["training"]["value"] == "True"
    assert [kind["value"] for _, kind in items["parameters"]["items"]] == ["'float32 cpu requires_grad'"]
    assert dict(second["arguments"]["self"]["items"])["training"]["value"] == "False"
    assert second["arguments"]["flag"]["value"] == "False"


def test_module_compile_in_place(run: Observed) -> None:
    (call,) = calls(run, entry(run, "Net.forward", line=line_of("own")))
    assert list(call["arguments"]) == ["self", "x", "flag"]


def test_a_compiled_class_is_one_entry_and_its_calls_count_once(run: Observed) -> None:
    doubled = entry(run, "Doubled.forward")
    assert total(run, doubled)["count"] == 2
    assert list(calls(run, doubled)[0]["arguments"]) == ["self", "z"]


def test_calls_inside_another_entry_are_counted_for_both(run: Observed) -> None:
    assert total(run, entry(run, "inner"))["count"] == 4  # three in Net.forward, one in its copy


def test_calls_that_raise_are_over(run: Observed) -> None:
    assert total(run, entry(run, "fail"))["count"] == 3


def test_one_context_for_several_functions(run: Observed) -> None:
    first, second = (
        found
        for found in run.notes("entry", function="<lambda>")
        for call in calls(run, found)
        if {"p", "q"} & set(call["arguments"])
    )
    assert (total(run, first)["count"], total(run, second)["count"]) == (2, 2)


def test_an_entry_that_is_never_called_is_noted_without_calls(run: Observed) -> None:
    (unused,) = run.notes("entry", line=line_of("unused"))
    assert not run.notes("calls", entry=unused["entry"])


def test_compiling_at_one_place_again_and_again_is_bounded(run: Observed) -> None:
    assert len(run.notes("entry", line=line_of("many"))) == 64


def test_what_pytorch_compiles_on_its_own_account_is_no_entry(run: Observed) -> None:
    assert not run.notes("entry", line=line_of("cond"))
    assert not run.notes("entry", line=line_of("export"))


def test_code_without_a_file_can_compile_as_well(run: Observed) -> None:
    (found,) = run.notes("entry", file="<string>")
    assert found["function_file"] is None


def test_threads_lose_no_call(run: Observed) -> None:
    assert total(run, entry(run, "threaded"))["count"] == 2000


def test_trace_records_carry_the_outermost_call(run: Observed) -> None:
    net = entry(run, "Net.forward", line=line_of("net"))["entry"]
    compiled = {
        (note["metadata"]["compilation_metrics"]["co_name"], note["entry"], note["call"])
        for note in run.notes("trace")
        if "compilation_metrics" in note["metadata"]
    }
    assert {("forward", net, 1), ("inner", net, 1)} <= compiled
    after_the_error = next(note for name, *note in compiled if name == "threaded")
    assert after_the_error[0] == entry(run, "threaded")["entry"]


def test_a_forked_child_counts_for_itself(run: Observed) -> None:
    assert len(run.journals) == 2
    child = run.journals[1]
    inner = next(note for note in child if note["kind"] == "entry" and note["function"] == "inner")
    counted = [note for note in child if note["kind"] == "calls"]
    assert [(note["entry"], note["count"]) for note in counted][-1] == (inner["entry"], 2)
    assert [note["call"] for note in child if note["kind"] == "call"] == [1]


def test_the_counts_of_a_long_run_are_noted_ever_more_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "1.jsonl")
    recorder = entries._Recorder(journal)
    calls = recorder._entry(SimpleNamespace(callback=None), sorted, None, None)
    noted = {}
    for second in range(1, 100_001):
        monkeypatch.setattr("time.monotonic", lambda: float(second))  # noqa: B023
        calls.count += 1
        if second >= recorder.next_counts:
            recorder.note_counts()
        noted[second] = len((tmp_path / "1.jsonl").read_bytes()) if second in (10_000, 100_000) else 0
    assert noted[100_000] < 2 * noted[10_000]
    assert list(read_journal(tmp_path / "1.jsonl"))[-1]["count"] > 90_000


KILLED = """
import os, signal, torch
compiled = torch.compile(lambda x: x + 1, backend="eager")
for rows in (2, 3):
    compiled(torch.randn(rows))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_leaves_its_calls(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    observed = observe(script, tmp_path / "journals")
    assert observed.status == -9
    assert [note["arguments"]["x"]["tensor"]["shape"] for note in observed.notes("call")] == [[2], [3]]
    assert observed.notes("calls")[-1]["count"] >= 1


SAME = """
import torch
from torch._dynamo.utils import counters

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.step = torch.nn.Linear(4, 4), 0

    def forward(self, x, bias):
        self.step += 1
        y = self.linear(x).relu()
        torch._dynamo.graph_break()
        return torch.nn.functional.dropout(y) + bias

torch.manual_seed(0)
net = Net()
compiled = torch.compile(net, backend="eager")
for rows in (2, 3, 3, 5, 5, 5, 5):
    compiled(torch.randn(rows, 4), 1.5).sum().backward()
print(net.linear.weight.grad.tolist(), torch.get_rng_state().sum().item(), type(compiled), repr(compiled))
print({name: dict(counters[name]) for name in ("stats", "frames", "graph_break", "recompiles")})
print(type(torch.compile(lambda x: x, backend="eager")), torch.autograd.profiler._is_profiler_enabled)
"""


def test_the_program_does_what_it_does_without_gbfix(tmp_path: Path) -> None:
    script = tmp_path / "same.py"
    script.write_text(SAME)
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    observed = observe(script, tmp_path / "journals")
    assert (observed.status, observed.stdout, observed.stderr) == (0, plain.stdout, plain.stderr)
