from __future__ import annotations

from pathlib import Path

from evidence_notes import ENTRY, PROCESS, finished, read, started

from gbfix.evidence.model import Place
from gbfix.evidence.reader import read_evidence


def test_how_often_arguments_were_seen() -> None:
    calls = [
        {"kind": "call", "entry": 1, "call": number, "arguments": {"n": {"kind": "int", "type": "int", "value": value}}}
        for number, value in ((1, "1"), (2, "2"))
    ]
    totals = {"kind": "calls", "entry": 1, "count": 40, "arguments": {"1": 30, "2": 2}}
    (found,) = read([ENTRY, *calls, totals]).entries
    assert found.calls == 40
    assert [(seen.values["n"].value, seen.calls) for seen in found.arguments] == [("1", 30), ("2", 2)]


def test_processes_add_up_and_of_ranks_the_one_with_most_counts() -> None:
    def entries(*ranks: int | None) -> tuple[int, int, int]:
        notes = []
        for pid, rank in enumerate(ranks):
            calls = {"kind": "calls", "entry": 1, "count": 10 + pid, "arguments": {}}
            notes += [{**PROCESS, "pid": pid, "rank": rank}, ENTRY, started(0), finished(0), calls]
        (row,) = read_evidence(notes, root=Path("/p")).entries
        return (row.calls, row.graphs, row.operations)

    assert entries(None, None) == (21, 2, 4)
    assert entries(0, 1) == (11, 1, 2)


def test_the_same_function_compiled_in_two_ways_is_two_entries() -> None:
    rows = read([ENTRY, {**ENTRY, "entry": 2, "fullgraph": True}, {**ENTRY, "entry": 3}]).entries
    assert [(row.function, row.fullgraph) for row in rows] == [("f", False), ("f", True)]
    assert rows[0].defined == Place("a.py", 3, "f")
    assert rows[0].compiled_at is None


def test_calls_without_a_total_are_those_that_were_noted() -> None:
    calls = [{"kind": "call", "entry": 1, "call": number, "arguments": {}} for number in (1, 7)]
    assert read([ENTRY, *calls]).entries[0].calls == 7


def test_arguments_that_cannot_be_read_are_a_problem() -> None:
    evidence = read([ENTRY, {"kind": "call", "entry": 1, "call": 1, "arguments": {"x": 3}}])
    assert evidence.entries[0].arguments == ()
    assert any("the arguments of a call of f cannot be read" in problem for problem in evidence.problems)
