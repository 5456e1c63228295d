"""Notes of real processes and notes made up here, folded into one document."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from evidence_runs import Run, run

from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.evidence.hashes import file_hash
from gbfix.evidence.launch import observed_environment
from gbfix.evidence.model import Cost, Evidence, Place
from gbfix.evidence.reader import journal_notes, read_evidence

WORKER = """\
import os
import signal
import sys

import torch


def shared(x):
    y = x + 1
    print("between")
    return y * 2


def special(x):
    return x * 3


function = torch.compile(shared, backend="eager")
for _ in range(8):
    function(torch.ones(3))
if sys.argv[1] == "killed":
    torch.compile(special, backend="eager")(torch.ones(3))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def start(folder: Path, code: str, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
    script, journals = folder / "program.py", folder / "journals"
    script.write_text(code)
    journals.mkdir(exist_ok=True)
    environment = {**observed_environment(os.environ, journals=journals, values=False), **variables}
    command = [sys.executable, str(script), *arguments]
    return subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Two ranks, of which one compiled more and was killed then."""
    folder = tmp_path_factory.mktemp("ranks")
    children = [
        start(folder, WORKER, what, RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank))
        for rank, what in enumerate(("whole", "killed"))
    ]
    assert [child.wait() for child in children] == [0, -9]
    return read_evidence(journal_notes(folder / "journals"), root=folder, command=("program.py",), exit_status=1)


def test_ranks_are_merged_and_hits_are_those_of_one(ranks: Evidence) -> None:
    (site,) = ranks.breaks
    assert (site.place, site.source) == (Place("program.py", 10, "shared", 4, 10, 20), 'print("between")')
    assert site.ranks == (0, 1)
    assert (site.events, site.calls) == (2, 2)
    assert site.cost.steady
    assert (site.cost.hits_per_call, site.cost.calls) == (1.0, 8)


def test_entries_of_ranks_are_merged(ranks: Evidence) -> None:
    shared, special = ranks.entries
    assert (shared.function, shared.calls, shared.graphs, shared.operations) == ("shared", 8, 2, 2)
    assert shared.defined == Place("program.py", 8, "shared")
    assert shared.compiled_at == Place("program.py", 18)
    assert (shared.backend, shared.fullgraph) == ("eager", False)
    assert [seen.values["x"].tensor for seen in shared.arguments] == [TensorSpec("float32", (3,), (1,))]
    assert special.calls == 1


def test_a_killed_process_is_incomplete_and_said_to_be(ranks: Evidence) -> None:
    assert not ranks.complete
    assert {process.rank: process.complete for process in ranks.processes} == {0: True, 1: False}
    assert any("(rank 1) did not shut down in order" in problem for problem in ranks.problems)


def test_ranks_that_ran_different_programs_are_said_to_have(ranks: Evidence) -> None:
    assert any("rank 1 compiled special (program.py), which others did not" in problem for problem in ranks.problems)


def test_processes_command_and_hashes(ranks: Evidence) -> None:
    assert (ranks.mode, ranks.command, ranks.exit_status) == ("run", ("program.py",), 1)
    assert all(process.torch.startswith("2.") for process in ranks.processes)
    assert all(process.argv[-1] in ("whole", "killed") for process in ranks.processes)
    assert ranks.hashes == {"program.py": file_hash(Path(ranks.root) / "program.py")}


def test_fragments(ranks: Evidence) -> None:
    pid = next(process.pid for process in ranks.processes if process.rank == 0)
    first, second = (fragment for fragment in ranks.fragments if fragment.process == pid)
    assert (first.place, first.resumes, first.graph, first.operations) == (
        Place("program.py", 8, "shared"),
        None,
        True,
        1,
    )
    assert (second.place.function, second.resumes, second.entry, second.skipped) == ("shared", 10, "shared", "")
    assert second.cost.hits_per_call == 1.0


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print('no torch')", "PyTorch was never imported"),
        ("import torch", "the program gave no function to torch.compile"),
        ("import torch\ntorch.compile(abs)", "functions were given to torch.compile, but none of them was called"),
    ],
)
def test_a_run_in_which_nothing_was_compiled(tmp_path: Path, code: str, message: str) -> None:
    assert start(tmp_path, code).wait() == 0
    evidence = read_evidence(journal_notes(tmp_path / "journals"), root=tmp_path)
    assert evidence.complete
    assert any(message in problem for problem in evidence.problems)


def test_no_process_at_all(tmp_path: Path) -> None:
    (problem,) = read_evidence(journal_notes(tmp_path), root=tmp_path).problems
    assert "nothing was recorded" in problem


def test_a_journal_without_a_head_and_with_half_a_line(tmp_path: Path) -> None:
    (tmp_path / "17.jsonl").write_text('{"kind": "torch", "version": "2.13.0", "settings": {}}\n{"kind": "tra')
    evidence = read_evidence(journal_notes(tmp_path), root=tmp_path)
    assert [process.pid for process in evidence.processes] == [17]
    assert any("end in the middle of a line" in problem for problem in evidence.problems)


def test_a_process_that_replaced_itself_is_complete(tmp_path: Path) -> None:
    notes = [PROCESS, started(0), {**PROCESS}, {"kind": "end"}]
    evidence = read_evidence(notes, root=tmp_path)
    assert [process.complete for process in evidence.processes] == [True, True]


PROCESS: dict[str, Any] = {"kind": "process", "pid": 5, "cwd": "/p"}


def started(frame: int, name: str = "f", line: int = 3, compilation: int = 0) -> dict[str, Any]:
    stack = [{"name": name, "filename": "/p/a.py", "line": line}]
    metadata = {"dynamo_start": {"stack": stack}, "frame_id": frame, "frame_compile_id": compilation}
    return {"kind": "trace", "metadata": metadata, "payload": None, "entry": 1, "call": 1}


def finished(frame: int, compilation: int = 0, **fields: object) -> dict[str, Any]:
    metrics = {"graph_op_count": 2, "has_guarded_code": True, **fields}
    metadata = {"compilation_metrics": metrics, "frame_id": frame, "frame_compile_id": compilation}
    return {"kind": "trace", "metadata": metadata, "payload": None, "entry": 1, "call": 1}


def read(notes: Iterable[dict[str, Any]]) -> Evidence:
    return read_evidence([PROCESS, *notes, {"kind": "end"}], root=Path("/p"))


def test_numbers_start_anew_after_a_reset() -> None:
    entry = {"kind": "entry", "entry": 1, "function": "f"}
    window = {"kind": "window", "calls": {"1": 2}, "regions": {"0/0": {"hits": 6, "seconds": 0.5}}}
    notes = [entry, started(0), finished(0), started(0, "g", 9), finished(0, graph_op_count=5), window]
    first, second = read([*notes, {"kind": "calls", "entry": 1, "count": 10}]).fragments
    assert [(each.place.function, each.operations) for each in (first, second)] == [("f", 2), ("g", 5)]
    assert first.cost == Cost(True, 0.0, 10, 0.0)
    assert second.cost == Cost(True, 3.0, 10, 0.25)


def test_file_names_by_number_and_backward_graphs() -> None:
    begin = started(0)
    begin["metadata"]["dynamo_start"]["stack"][0]["filename"] = 4
    string = {"kind": "trace", "metadata": {"str": ["/p/b.py", 4]}, "payload": None}
    backward = finished(0, is_forward=False, graph_op_count=9)
    (fragment,) = read([string, begin, finished(0), backward]).fragments
    assert (fragment.place.file, fragment.operations) == ("b.py", 2)


def test_frames_that_run_in_python_say_why() -> None:
    empty = finished(0)
    del empty["metadata"]["compilation_metrics"]["graph_op_count"]
    given_up = finished(
        1, has_guarded_code=False, fail_type="Unsupported", fail_reason="Call to print\n  Explanation: x"
    )
    over = finished(2, 8, has_guarded_code=None, fail_type="Unsupported", fail_reason="Dynamo recompile limit exceeded")
    notes = [started(0), empty, started(1), given_up, started(2), finished(2), over]
    assert [(each.skipped, each.graph) for each in read(notes).fragments] == [
        ("no tensor operation was traced", False),
        ("Call to print", False),
        ("", True),
        ("recompile limit reached", False),
    ]


def test_observations_are_counted_over_processes_and_the_last_count_holds() -> None:
    tensor = {"dtype": "float32", "shape": ["s0", 3], "stride": [3, 1], "device": "cpu", "requires_grad": True}
    seen = {
        "kind": "observation",
        "id": 4,
        "file": "/p/a.py",
        "line": 3,
        "function": "f",
        "how": "eager",
        "grad_enabled": False,
        "values": {"x": {"kind": "tensor", "type": "torch.Tensor", "tensor": tensor}},
        "aliases": [["x", "y"]],
    }
    other = {**seen, "id": 5, "how": "traced"}
    counts = [{"kind": "observed", "id": 4, "count": count} for count in (2, 7)]
    notes = [PROCESS, seen, other, *counts, {**PROCESS, "pid": 6}, {**seen, "id": 1}]
    found = read_evidence(notes, root=Path("/p")).observations
    spec = ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", ("s0", 3), (3, 1), requires_grad=True))
    expected = Observation("a.py", 3, "f", "eager", 8, False, {"x": spec}, (("x", "y"),))
    assert found[0] == expected
    assert (found[1].how, found[1].count) == ("traced", 1)


def test_values_that_cannot_be_read_are_a_problem_and_the_rest_is_read() -> None:
    broken = {"kind": "observation", "id": 1, "file": "/p/a.py", "line": 3, "function": "f", "values": {"x": 3}}
    evidence = read([broken, started(0), finished(0)])
    assert evidence.observations == ()
    assert any("values noted at /p/a.py:3 cannot be read" in problem for problem in evidence.problems)
    assert len(evidence.fragments) == 1


def test_unwatched_lines_and_problems_are_passed_on() -> None:
    unwatched = {"kind": "unwatched", "file": "/p/a.py", "line": 3, "reason": "a debugger"}
    problem = {"kind": "problem", "message": "PyTorch 2.5 is too old"}
    evidence = read([unwatched, unwatched, problem, problem])
    assert evidence.unwatched == (Place("a.py", 3),)
    assert evidence.problems.count("PyTorch 2.5 is too old") == 1


def test_how_often_arguments_were_seen() -> None:
    entry = {"kind": "entry", "entry": 1, "function": "f", "function_file": "/p/a.py", "function_line": 3}
    calls = [
        {"kind": "call", "entry": 1, "call": number, "arguments": {"n": {"kind": "int", "type": "int", "value": value}}}
        for number, value in ((1, "1"), (2, "2"))
    ]
    totals = {"kind": "calls", "entry": 1, "count": 40, "arguments": {"1": 30, "2": 2}}
    (found,) = read([entry, *calls, totals]).entries
    assert found.calls == 40
    assert [(seen.values["n"].value, seen.calls) for seen in found.arguments] == [("1", 30), ("2", 2)]


@pytest.fixture(scope="module")
def breaking() -> Run:
    return run("evidence_breaking.py")


def test_the_same_run_read_twice_is_the_same(breaking: Run) -> None:
    assert breaking.evidence() == breaking.evidence()
