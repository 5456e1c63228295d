from __future__ import annotations

from evidence_notes import ENTRY, finished, read, started, trace

from gbfix.evidence.model import Place


def test_frames_that_run_in_python_say_why() -> None:
    empty = finished(0, graph_op_count=None)
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


def test_a_loop_that_broke_before_torch_2_11_says_so_only_in_its_break() -> None:
    text = (
        "Graph break in user code at /p/a.py:4\nReason: builtin: print\n"
        'User code traceback:\n  File "/p/a.py", line 4, in f\n'
    )
    broken = trace({"artifact": {"name": "dynamo_graph_break_reason"}}, 0, payload=text)
    evidence = read([ENTRY, started(0), broken, finished(0, graph_op_count=None, has_guarded_code=False)])
    assert evidence.fragments[0].skipped == "builtin: print"
    assert evidence.breaks[0].skipped_frame


def test_a_resume_function_is_its_function_from_the_line_on() -> None:
    (fragment,) = read([ENTRY, started(3, "torch_dynamo_resume_in_f_at_7", 7), finished(3)]).fragments
    assert (fragment.id, fragment.place, fragment.resumes, fragment.process) == ("3/0", Place("a.py", 7, "f"), 7, 5)
    assert (fragment.entry, fragment.graph, fragment.operations) == ("f", True, 2)
