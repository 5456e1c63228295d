"""Notes of real processes and notes made up here, folded into one document."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from evidence_runs import Run, run

from gbfix.analysis.observations import TensorSpec
from gbfix.evidence.hashes import file_hash
from gbfix.evidence.launch import observed_environment
from gbfix.evidence.model import Evidence, Place
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


@pytest.fixture(scope="module")
def breaking() -> Run:
    return run("evidence_breaking.py")


def test_the_same_run_read_twice_is_the_same(breaking: Run) -> None:
    assert breaking.evidence() == breaking.evidence()
