from __future__ import annotations

from pathlib import Path

from evidence_notes import PROCESS, finished, read, started

from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.evidence.model import Place
from gbfix.evidence.reader import read_evidence


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
