"""Each kind of graph break in one program, run once; the expected lines and ids stand in its comments."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from evidence_runs import TESTS, Run, run

from gbfix.evidence.model import Break, Evidence
from gbfix.evidence.reader import read_evidence

PROGRAM = "evidence_breaking.py"


@pytest.fixture(scope="module")
def breaking() -> Run:
    return run(PROGRAM)


@pytest.fixture(scope="module")
def evidence(breaking: Run) -> Evidence:
    return breaking.evidence()


def by_line(evidence: Evidence) -> dict[int, list[Break]]:
    found = defaultdict(list)
    for site in evidence.breaks:
        assert site.place.file == PROGRAM
        found[site.place.line].append(site)
    return found


def only(evidence: Evidence, function: str) -> Break:
    (site,) = (site for site in evidence.breaks if site.place.function == function)
    return site


def words(site: Break) -> str:
    skipped = " skipped" if site.skipped_frame else ""
    return f"{site.gb}{skipped}{' fullgraph' if site.fullgraph else ''}"


def test_every_break_and_no_other_is_reported_where_it_is(breaking: Run, evidence: Evidence) -> None:
    found = {line: " ".join(map(words, sites)) for line, sites in by_line(evidence).items()}
    assert found == breaking.marked("BREAK")


def test_trace_files_give_the_same_sites(breaking: Run, evidence: Evidence) -> None:
    def rows(evidence: Evidence) -> list[tuple[object, ...]]:
        return [
            (site.place.line, site.place.function, words(site), site.others, site.events, site.fragments, site.source)
            for site in evidence.breaks
        ]

    assert rows(breaking.evidence_of_trace()) == rows(evidence)


def test_a_log_gives_the_same_sites_but_for_errors(breaking: Run) -> None:
    found = {line: " ".join(map(words, sites)) for line, sites in by_line(breaking.evidence_of_log()).items()}
    expected = breaking.marked("BREAK")
    assert found == {line: words for line, words in expected.items() if "fullgraph" not in words}


def test_a_break_in_a_helper_is_one_site_with_an_event_for_each_frame_around_it(evidence: Evidence) -> None:
    site = only(evidence, "helper")
    assert (site.events, site.calls, site.fragments) == (3, 1, 3)
    assert site.entries == ("through_helpers",)
    assert [place.function for place in site.stack[-3:]] == ["through_helpers", "outer", "helper"]


def test_columns_source_and_further_ids(evidence: Evidence) -> None:
    branch = only(evidence, "branch")
    assert (branch.place.column, branch.place.end_column, branch.place.end_line) == (8, 19, branch.place.line)
    assert branch.source == "y.sum() > 0  # BREAK GB0170"
    assert only(evidence, "in_a_loop").others == ("GB7000",)
    assert only(evidence, "in_a_context").others == ("GB0066",)
    assert only(evidence, "branch").kind == "Data-dependent branching"
    assert only(evidence, "branch").explanation.startswith("Detected data-dependent branching")


def test_the_place_is_the_users_also_when_a_library_was_reported(evidence: Evidence) -> None:
    for function in ("copied", "dumped"):
        site = only(evidence, function)
        assert site.project is None
        assert not site.stack[-1].file.endswith(PROGRAM)


def test_entries_and_first_shape(evidence: Evidence) -> None:
    assert all(site.first_shape for site in evidence.breaks)
    for site in evidence.breaks:
        if site.place.function != "helper":
            assert site.entries == (site.place.function,)


LINK = "\n\n For more details about this graph break, please visit: https://example.org/gb/gb{}.html"


def metrics(function: str, file: Path, **fields: object) -> dict[str, object]:
    return {"co_name": function, "co_filename": str(file), "co_firstlineno": 1, **fields}


def trace(record: dict[str, object], payload: str | None = None, frame: int = 0, **fields: object) -> dict[str, object]:
    metadata = {**record, "frame_id": frame, "frame_compile_id": fields.pop("compilation", 0)}
    return {"kind": "trace", "metadata": metadata, "payload": payload, "entry": None, "call": None, **fields}


def artifact(text: str, frame: int = 0, **fields: object) -> dict[str, object]:
    return trace({"artifact": {"name": "dynamo_graph_break_reason"}}, text, frame, **fields)


def failed(file: Path, **fields: object) -> dict[str, object]:
    reason = f"Call to print\n  Explanation: No.{LINK.format('0059')}"
    usual: dict[str, object] = {
        "fail_type": "Unsupported",
        "fail_reason": reason,
        "fail_user_frame_filename": str(file),
        "fail_user_frame_lineno": 3,
        "has_guarded_code": False,
    }
    return trace({"compilation_metrics": metrics("f", file, **{**usual, **fields})})


def read(root: Path, *notes: dict[str, object], torch: str = "2.13.0", **process: object) -> tuple[Break, ...]:
    begin = [{"kind": "process", "pid": 1, **process}, {"kind": "torch", "version": torch}]
    return read_evidence([*begin, *notes, {"kind": "end"}], root=root).breaks


def test_before_2_11_a_skipped_frame_is_known_from_its_metrics_alone(tmp_path: Path) -> None:
    (site,) = read(tmp_path, failed(tmp_path / "a.py"), torch="2.6.0")
    assert (site.place.file, site.place.line, site.gb) == ("a.py", 3, "GB0059")
    assert (site.skipped_frame, site.fullgraph) == (True, False)


def test_an_entry_tells_whether_a_failure_was_an_error(tmp_path: Path) -> None:
    for fullgraph in (False, True):
        entry = {"kind": "entry", "entry": 7, "function": "f", "fullgraph": fullgraph}
        (site,) = read(tmp_path, entry, {**failed(tmp_path / "a.py"), "entry": 7, "call": 1}, torch="2.6.0")
        assert (site.skipped_frame, site.fullgraph) == (not fullgraph, fullgraph)
        assert site.entries == ("f",)


def test_a_failure_that_was_reported_is_no_second_event(tmp_path: Path) -> None:
    text = (
        f"Graph break in user code at {tmp_path}/a.py:3\nGraph Break Reason: Call to print\n  Explanation: No."
        f'{LINK.format("0059")}\nUser code traceback:\n  File "{tmp_path}/a.py", line 3, in f\n    print()\n'
    )
    (site,) = read(tmp_path, artifact(text), failed(tmp_path / "a.py"))
    assert (site.events, site.skipped_frame, site.fullgraph) == (1, True, False)


def test_a_failure_inside_the_standard_library_is_in_the_function_that_was_compiled(tmp_path: Path) -> None:
    where = "/usr/lib/python3.11/logging/__init__.py"
    (site,) = read(tmp_path, failed(tmp_path / "a.py", fail_user_frame_filename=where, fail_user_frame_lineno=90))
    assert (site.place.file, site.place.line, site.place.function) == ("a.py", 1, "f")


def test_the_stack_of_an_error_tells_more_than_its_metrics(tmp_path: Path) -> None:
    error = (
        'Traceback (most recent call last):\n  File "/t/torch/_dynamo/x.py", line 4, in y\n\nfrom user code:\n'
        f'   File "{tmp_path}/a.py", line 6, in f\n    logging.info("value")\n'
        '  File "/usr/lib/python3.11/logging/__init__.py", line 90, in info\n    if x:\n'
    )
    where = {"fail_user_frame_filename": "/usr/lib/python3.11/logging/__init__.py", "fail_user_frame_lineno": 90}
    (site,) = read(tmp_path, trace({"artifact": {"name": "dynamo_error"}}, error), failed(tmp_path / "a.py", **where))
    assert (site.place.line, site.source) == (6, 'logging.info("value")')
    assert site.stack[-1].line == 90


def test_the_recompile_limit_and_errors_that_reach_the_program(tmp_path: Path) -> None:
    limit = metrics("f", tmp_path / "a.py", fail_type="Unsupported", fail_reason="Dynamo recompile limit exceeded\n x")
    assert read(tmp_path, trace({"compilation_metrics": limit}, compilation=8)) == ()
    (site,) = read(tmp_path, failed(tmp_path / "a.py", fail_type="RecursionError", fail_reason="too deep"))
    assert (site.kind, site.skipped_frame, site.fullgraph) == ("RecursionError", False, False)


def test_a_site_in_a_package_names_the_line_of_the_project_that_led_there(tmp_path: Path) -> None:
    text = (
        "Graph break in user code at /v/site-packages/timm/x.py:3\nGraph Break Reason: Call to print\n"
        f'User code traceback:\n  File "{tmp_path}/a.py", line 9, in main\n    f(x)\n'
        '  File "/v/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1, in _call_impl\n'
        '  File "/v/lib/python3.11/site-packages/timm/x.py", line 3, in f\n    print(x)\n'
    )
    (site,) = read(tmp_path, artifact(text))
    assert (site.place.file, site.place.line) == ("/v/lib/python3.11/site-packages/timm/x.py", 3)
    assert site.project is not None
    assert (site.project.file, site.project.line, site.project.function) == ("a.py", 9, "main")
    assert [place.function for place in site.stack] == ["main", "f"]


def test_a_span_of_another_line_or_file_is_not_taken(tmp_path: Path) -> None:
    text = (
        f"Graph break in user code at {tmp_path}/a.py:3\nReason: Call to print\n"
        f'User code traceback:\n  File "{tmp_path}/a.py", line 3, in f\n    print()\n'
    )
    span = {"kind": "span", "file": f"{tmp_path}/a.py", "line": 3, "column": 4, "end_line": 3, "end_column": 11}
    assert read(tmp_path, span, artifact(text))[0].place.column == 4
    assert read(tmp_path, {**span, "line": 4}, artifact(text))[0].place.column is None
    assert read(tmp_path, {**span, "file": f"{tmp_path}/b.py"}, artifact(text))[0].place.column is None
    assert read(tmp_path, {**span, "frame_id": 5, "frame_compile_id": 0}, artifact(text))[0].place.column is None


def test_paths_of_this_folder_are_relative_to_the_root(evidence: Evidence) -> None:
    assert evidence.root == str(TESTS)
    assert PROGRAM in evidence.hashes
