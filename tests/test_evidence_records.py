from __future__ import annotations

from pathlib import Path

from evidence_notes import ENTRY, PROCESS, finished, read, started, trace

from gbfix.evidence.model import Cost
from gbfix.evidence.reader import read_evidence
from gbfix.evidence.records import reasons


def test_numbers_start_anew_after_a_reset() -> None:
    window = {"kind": "window", "calls": {"1": 2}, "regions": {"0/0": {"hits": 6, "seconds": 0.5}}}
    notes = [ENTRY, started(0), finished(0), started(0, "g", 9), finished(0, graph_op_count=5), window]
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


def test_a_process_that_replaced_itself_is_complete() -> None:
    notes = [PROCESS, started(0), PROCESS, {"kind": "end"}]
    evidence = read_evidence(notes, root=Path("/p"))
    assert [process.complete for process in evidence.processes] == [True, True]


def test_reasons_as_text_as_json_and_as_json_that_was_cut_off() -> None:
    assert reasons("0/0: n == 1") == ["0/0: n == 1"]
    assert reasons('"0/0: n == 1"') == ["0/0: n == 1"]
    assert reasons('[\n"0/1: n == 2",\n"0/0: n == 1"\n]') == ["0/1: n == 2", "0/0: n == 1"]
    assert reasons('[\n"0/1: n == 2",\n"0/0: n =') == ["0/1: n == 2"]
    assert reasons('[\n"0/1: n =') == []
    assert reasons(None) == [""]


def test_the_record_of_the_limit_names_no_code_object_and_gets_that_of_its_siblings() -> None:
    fail_reason = "Dynamo recompile limit exceeded"
    limit = {"graph_op_count": None, "has_guarded_code": None, "fail_type": "Unsupported", "fail_reason": fail_reason}
    reason = trace({"artifact": {"name": "recompile_reasons"}}, 0, 1, "0/0: n == 1")
    notes = [
        started(0, "g", 9),
        finished(0),
        reason,
        finished(0, 1, **limit),
    ]
    (row,) = read([ENTRY, *notes]).recompiles
    assert (row.place.function, row.place.line, row.limit_hit, row.count) == ("g", 9, True, 1)


def test_the_newest_of_several_failed_guards_counts() -> None:
    payload = '["0/1: n == 2", "0/0: n == 1"]'
    (row,) = read(
        [ENTRY, trace({"artifact": {"name": "recompile_reasons"}}, 0, 2, payload), started(0, compilation=2)]
    ).recompiles
    assert (row.guard, row.place.file, row.place.line) == ("n == 2", "a.py", 3)


def test_without_the_artifact_the_metrics_tell_the_reason() -> None:
    (row,) = read([ENTRY, started(0, compilation=1), finished(0, 1, recompile_reason="0/0: n == 1")]).recompiles
    assert row.guard == "n == 1"
