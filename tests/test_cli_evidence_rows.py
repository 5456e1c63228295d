from __future__ import annotations

from pathlib import Path

import pytest
from evidence_sample import STEADY, branch, call_of_builtin, evidence, report, sizes

from gbfix.cli.evidence_rows import break_cost_text, recompile_cost_text
from gbfix.evidence.fragments import NOTHING_TO_COMPILE
from gbfix.evidence.model import Cost, Fragment, Place


def test_what_a_break_costs_in_words(tmp_path: Path) -> None:
    def text(cost: Cost, mode: str = "run") -> str:
        return break_cost_text(evidence(tmp_path, mode=mode), branch("safe.py", cost))

    assert text(STEADY) == "2.0 hits per call x 400 calls, 1.5 ms per call until the next break"
    assert text(Cost(steady=True, hits_per_call=1.0, calls=1)) == "1.0 hit per call x 1 call"
    assert text(Cost(steady=True, calls=9)) == "start-up only: not hit once the program was warm"
    assert text(Cost()) == "not known: no call was counted after warm-up"
    assert text(Cost(), "torch_trace") == "not known: saved traces and logs do not count calls"


def test_a_cost_that_a_killed_program_took_along_is_not_said_to_be_a_matter_of_warm_up(tmp_path: Path) -> None:
    killed = evidence(tmp_path, complete=False)
    assert break_cost_text(killed, branch("safe.py", Cost())) == "not known: the program did not end in order"


def test_what_a_recompile_costs_in_words() -> None:
    assert recompile_cost_text(sizes()) == "compiled once more"
    assert recompile_cost_text(sizes(count=8, limit_hit=True)) == (
        "compiled 8 times more, then the recompile limit was reached: it runs in Python since"
    )


def test_totals_count_rows_and_code_objects(tmp_path: Path) -> None:
    place = Place("safe.py", 6, "f")
    fragments = (
        Fragment("0/0", place, 0, graph=True),
        Fragment("0/1", place, 0, skipped="limit"),
        Fragment("0/2", place, 0, skipped="limit"),
        Fragment("1/0", Place("safe.py", 7, "f"), 0, skipped=NOTHING_TO_COMPILE),
    )
    made = report(
        tmp_path,
        fragments=fragments,
        breaks=(branch("safe.py"), branch("refused.py"), call_of_builtin()),
        recompiles=(sizes(count=2), sizes(count=5, limit_hit=True)),
    )
    totals = made.totals
    assert (totals.functions, totals.graphs, totals.frames_skipped) == (2, 1, 1)
    assert (totals.sites, totals.kinds, totals.recompiles, totals.limit_hits) == (3, 2, 7, 1)
    assert (totals.safe, totals.unsafe) == (1, 0)


def test_a_log_tells_neither_graphs_nor_functions(tmp_path: Path) -> None:
    totals = report(tmp_path, mode="torch_logs").totals
    assert (totals.functions, totals.graphs, totals.frames_skipped) == (None, None, None)


def test_places_are_named_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = report(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert made.name(Place("safe.py", 7, column=4)) == "safe.py:7:5"
    assert made.name(Place("safe.py", 7)) == "safe.py:7"
    monkeypatch.chdir("/")
    assert made.name(Place("safe.py", 7)) == f"{(tmp_path / 'safe.py').as_posix()}:7"[1:]
