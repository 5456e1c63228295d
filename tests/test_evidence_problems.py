from __future__ import annotations

from pathlib import Path

from evidence_notes import PROCESS, Notes, finished, read, started

from gbfix.evidence.model import Evidence
from gbfix.evidence.reader import read_evidence


def of_processes(*processes: list[Notes], mode: str = "run") -> Evidence:
    notes = [note for pid, its in enumerate(processes) for note in ({**PROCESS, "pid": pid}, *its)]
    return read_evidence(notes, root=Path("/p"), mode=mode)


COMPILED = [started(0), finished(0)]
END: Notes = {"kind": "end"}


def test_a_program_that_compiled_and_ended_has_none() -> None:
    assert read(COMPILED).problems == ()


def test_a_process_that_compiled_nothing_may_be_killed() -> None:
    evidence = of_processes([*COMPILED, END], [])
    assert (evidence.complete, evidence.problems) == (True, ())
    evidence = of_processes([*COMPILED, END], COMPILED)
    assert not evidence.complete
    (problem,) = evidence.problems
    assert problem.startswith("process 1 did not shut down in order")


def test_what_processes_noted_is_said_once_and_by_whom_when_there_are_several() -> None:
    noted = {"kind": "problem", "message": "the profiler was in use"}
    assert read([*COMPILED, noted, noted]).problems == ("the profiler was in use",)
    assert of_processes([*COMPILED, noted, END], [*COMPILED, END]).problems == ("process 0: the profiler was in use",)


def test_a_torch_that_is_too_old_is_the_reason_and_no_other_is_guessed() -> None:
    too_old = {"kind": "problem", "message": "PyTorch 2.5 is too old"}
    torch = {"kind": "torch", "version": "2.5.0", "settings": {}}
    assert read([torch, too_old]).problems == ("PyTorch 2.5 is too old",)


def test_ranks_that_ran_the_same_program_are_no_problem() -> None:
    def rank(number: int, *notes: Notes) -> list[Notes]:
        return [{**PROCESS, "pid": number, "rank": number}, *notes, END]

    same = read_evidence([*rank(0, *COMPILED), *rank(1, *COMPILED)], root=Path("/p"))
    assert same.problems == ()
    extra = [started(number, f"g{number}", 9) for number in range(1, 6)]
    other = read_evidence([*rank(0, *COMPILED), *rank(1, *COMPILED, *extra)], root=Path("/p"))
    (problem,) = other.problems
    assert "rank 1 compiled g1 (a.py), g2 (a.py), g3 (a.py) and 2 more" in problem


def test_what_a_saved_trace_cannot_know() -> None:
    (problem,) = of_processes([*COMPILED, END], mode="torch_trace").problems
    assert "no columns, calls, hits or values" in problem
    assert any("no record of a compilation" in problem for problem in of_processes([END], mode="torch_trace").problems)
