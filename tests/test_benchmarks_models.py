"""The tables of real models: which rows are chosen, and what is made of two measurements."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks" / "models"
NAMES = ("places", "table", "compare", "report", "causes")


def _load() -> list[ModuleType]:
    """The modules of the benchmark, whose names are too plain to stay importable for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        for name in NAMES:
            patch.delitem(sys.modules, name, raising=False)
        loaded = [importlib.import_module(name) for name in NAMES]
        for name in NAMES:
            del sys.modules[name]
        return loaded


places, table, compare, report, causes = _load()
BART = next(row for row in table.ROWS if row.id == "record/bart-fp16")
DETR = next(row for row in table.ROWS if row.id == "today/detr")
CLAP = next(row for row in table.ROWS if row.id == "record/clap-fused")


def _break(line: int, calls: list[int], kind: str = "gb0170") -> dict[str, Any]:
    place = {"file": "library/model.py", "line": line, "source": "if t.any():"}
    return {"place": place, "kind": kind, "how": "resumed", "calls": calls}


def _measured(graphs: list[int], breaks: list[dict[str, Any]], **outputs: str) -> dict[str, Any]:
    phase = {"graphs": graphs, "breaks": breaks, "recompiles": [], "fullgraph": "ok", "failed": []}
    runs = {
        f"forward {run}": {"eager": {"output": bits}, "compiled": {"output": bits}} for run, bits in outputs.items()
    }
    return {"phases": {"forward": phase}, "bits": runs}


def test_rows_have_names_of_their_own_and_are_chosen_by_suite_name_or_id() -> None:
    assert len({row.id for row in table.ROWS}) == len(table.ROWS)
    assert table.chosen((), ()) == list(table.ROWS)
    assert {row.suite for row in table.chosen(("diffusers",), ())} == {"diffusers"}
    assert [row.id for row in table.chosen((), ("bart-fp16",))] == ["record/bart-fp16", "today/bart-fp16"]
    assert table.chosen((), ("record/bart-fp16",)) == [BART]
    with pytest.raises(KeyError, match="no-such-row"):
        table.chosen((), ("no-such-row",))


def test_breaks_are_graphs_minus_one_and_sites_are_lines() -> None:
    measured = _measured([3, 2], [_break(7, [1, 2]), _break(7, [1], "gb7000"), _break(9, [2])])
    counts = compare.counts_of(measured["phases"]["forward"])
    assert (counts.breaks, counts.sites) == (2, 2)
    assert counts.kinds == ["gb0170", "gb7000"]
    assert counts.at[0] == "library/model.py:7: if t.any():"


def test_function_that_is_given_up_as_a_whole_counts_as_a_break() -> None:
    assert compare.counts_of(_measured([0], [_break(7, [1])])["phases"]["forward"]).breaks == 1
    assert compare.counts_of(_measured([1, 2], [_break(7, [2])])["phases"]["forward"]).breaks == 0
    assert compare.counts_of(_measured([1], [])["phases"]["forward"]).breaks == 0


def test_each_run_that_differs_is_named_with_what_differs() -> None:
    before, after = _measured([2], [], ordinary="1", nan="2"), _measured([1], [], ordinary="1", nan="3")
    after["bits"]["forward nan"]["eager"]["output"] = "2"
    (difference,) = compare.different(before, after)
    assert (difference.run, difference.mode, difference.names) == ("forward nan", "compiled", ["output"])
    assert compare.compiled_unlike_eager(after) == ["forward nan"]


def test_compiled_code_may_do_what_python_does() -> None:
    before, after = _measured([2], [], ordinary="1"), _measured([1], [], ordinary="1")
    before["bits"]["forward ordinary"]["compiled"]["output"] = "2"
    assert compare.different(before, after) == []
    after["bits"]["forward ordinary"]["compiled"]["output"] = "3"
    assert [difference.mode for difference in compare.different(before, after)] == ["compiled"]


def test_file_and_its_copy_have_one_name() -> None:
    for path in ("/env/lib/python3.11/site-packages/library/a.py", "/row/.gbfix/overlay/library/a.py"):
        assert places.from_library(path) == "library/a.py"
    assert places.from_library(".gbfix/overlay/library/a.py") == "library/a.py"
    assert places.from_library("/somewhere/worker.py") == "worker.py"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("refused: /env/lib/python3.11/site-packages/library/a.py:7: no", "refused: library/a.py:7: no"),
        ("'/row/.gbfix/overlay/library/a.py' (/e/site-packages/b.py)", "'library/a.py' (b.py)"),
        (r"C:\env\Lib\site-packages\library\a.py", r"library\a.py"),
        ("/row/program.py and /row/x/y.py", "program.py and x/y.py"),
        ("/rows/program.py, a/site-packages/b.py, 3 / 4", "/rows/program.py, a/site-packages/b.py, 3 / 4"),
    ],
)
def test_text_that_is_kept_names_no_folder_of_the_machine(text: str, kept: str) -> None:
    assert places.without_machine(text, "/row") == kept


def test_what_gbfix_says_is_kept_by_line() -> None:
    remedy = {
        "text": "GBF310 logging-in-region, refused",
        "details": ["violated: under a condition in /env/site-packages/library/other.py", "more"],
    }
    place = {"file": "/env/site-packages/library/model.py", "line": 7}
    applied = [{"code": "GBF101", "name": "tensor-value-branch"}] * 2
    said = {
        "rounds": 2,
        "seconds": 3.0,
        "ended": "nothing more",
        "files": [{"applied": applied}, {"applied": []}],
        "remaining": {"breaks": [{"place": place, "remedy": remedy}]},
    }
    fixed = compare.fixed_of(said)
    assert fixed.rules == {"GBF101 tensor-value-branch": 2}
    reason = "GBF310 logging-in-region, refused; violated: under a condition in library/other.py"
    assert fixed.reasons == {"library/model.py:7": reason}
    left = _measured([8], [_break(7, [1])])
    row = compare.compared(BART, left, left, fixed=fixed)
    assert report.from_document(report.document([row])) == [row]
    assert "`library/model.py:7: if t.any():`: GBF310 logging-in-region, refused" in report.markdown([row])


def test_run_that_is_missing_or_raises_is_a_difference() -> None:
    before, after = _measured([2], [], ordinary="1", nan="2"), _measured([1], [], ordinary="1")
    assert {difference.run for difference in compare.different(before, after)} == {"forward nan"}
    before["bits"]["forward nan"] = {mode: {"raised": "ValueError: no"} for mode in compare.MODES}
    assert compare.sides(before) == (2, 1)


def test_removed_breaks_leave_out_rows_that_failed() -> None:
    rows = [
        compare.compared(BART, _measured([8], [_break(7, [1])]), _measured([1], [])),
        compare.compared(CLAP, _measured([3], [_break(7, [1])]), _measured([3], [_break(7, [1])])),
        compare.Compared(CLAP, error="took too long"),
    ]
    total = compare.removed(rows, compare.Compared.breaks)
    assert (total.before, total.after) == (9, 2)
    assert compare.removed(rows, compare.Compared.sites) == compare.Removed(2, 1)
    assert total.share == pytest.approx(7 / 9)
    # Where the peer leaves breaks, leaving as many is not better.
    assert compare.less_than_peer(rows) == ["record/clap-fused"]


def test_times_are_ratios_of_pairs() -> None:
    old = [{"cold": 4.0, "steady": [2.0, 2.0]}, {"cold": 4.0, "steady": [1.0, 1.0]}, {"cold": 4.0, "steady": [1.0]}]
    new = [{"cold": 2.0, "steady": [1.0, 1.0]}, {"cold": 1.0, "steady": [1.0, 1.0]}, {"cold": 2.0, "steady": [1.0]}]
    assert compare.ratios(old, new) == {"cold": 0.5, "steady": 1.0}


def test_results_are_kept_between_runs() -> None:
    row = compare.compared(BART, _measured([8], [_break(7, [1])], ordinary="1"), _measured([1], [], ordinary="2"))
    failed = compare.Compared(CLAP, error="took | too long")
    assert report.from_document(report.document([row, failed])) == [row, failed]


def test_section_is_replaced_and_what_is_around_it_stays(tmp_path: Path) -> None:
    page = tmp_path / "RESULTS.md"
    page.write_text("# Results\n")
    row = compare.compared(BART, _measured([8], [_break(7, [1])], ordinary="1"), _measured([1], [], ordinary="1"))
    report.write_section(page, [row])
    page.write_text(page.read_text() + "\n## After\n")
    first = page.read_text()
    assert "| bart-fp16 | f 8 → 1 | f 1 → 0 |" in first
    assert "7 of 7 breaks removed (100%)" in first
    report.write_section(page, [row])
    assert page.read_text() == first
    report.write_section(page, [compare.Compared(BART, error="took | too long")])
    changed = page.read_text()
    assert changed.startswith("# Results\n\n<!-- begin")
    assert changed.endswith("\n## After\n")
    assert "failed: took \\| too long" in changed
    assert "bart-fp16 | f 8" not in changed


def test_each_site_of_the_survey_has_the_cause_that_it_is_listed_under() -> None:
    known = causes.read_causes(FOLDER / "causes.json")
    sample = [(site, cause) for cause in known for site in cause.sample]
    assert len(sample) > 90
    for site, cause in sample:
        assert next(each for each in known if each.explains(site)) == cause, site


def test_sites_are_counted_by_cause_before_and_after() -> None:
    def side(*sources: str) -> dict[str, Any]:
        breaks = [_break(number + 7, [1]) for number in range(len(sources))]
        for entry, source in zip(breaks, sources, strict=True):
            entry["place"]["source"] = source
        return _measured([len(sources) + 1], breaks)

    head = "if mask.any() is head:"
    gone, stays, fresh = "logger.info('gone')", "n = np.random.rand(1)", "sizes = t.tolist()"
    said = compare.Fixed(1, 2.0, "", {}, {"library/model.py:7": "no fix: it takes | somebody"})
    rows = [
        compare.compared(DETR, side(gone, stays), side(stays, fresh), fixed=said),
        compare.compared(BART, side("if of.record:"), side()),
        compare.Compared(DETR, error="took too long"),
    ]
    known = causes.read_causes(FOLDER / "causes.json")
    text = causes.markdown(causes.count(rows, known))
    assert "| message | A | 1 | 1 | 0 | 0 |" in text
    assert "| numbers of Python drawn by NumPy | B | 1 | 0 | 1 | 0 |" in text
    assert "A: 1 of 1 removed, B: 0 of 1 removed, C: 0 of 0 removed." in text
    left, _, new = text.partition("### Sites that break only afterwards")
    assert f"`library/model.py`: `{stays}`: detr: no fix: it takes \\| somebody" in left
    assert f"`{fresh}`: detr: gbfix says nothing" in new
    assert "WITHOUT A CAUSE" not in text
    unknown = causes.count([compare.compared(DETR, side(head), side())], known)
    assert unknown[causes.UNKNOWN].before == {("library/model.py", head)}
    assert "| WITHOUT A CAUSE | ? | 1 | 1 | 0 | 0 |" in causes.markdown(unknown)
