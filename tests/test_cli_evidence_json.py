from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from evidence_sample import STEADY, branch, call_of_builtin, report, sizes

from gbfix.cli.evidence_json import evidence_json
from gbfix.evidence.model import Cost, Place


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    made = report(
        tmp_path,
        breaks=(call_of_builtin(Cost()), branch("refused.py")),
        recompiles=(sizes(count=9, limit_hit=True, owner=Place("safe.py", 7, "f")), sizes()),
        problems=("it was killed",),
        complete=False,
    )
    loaded: dict[str, Any] = json.loads(evidence_json(made))
    return loaded


def test_rows_stand_in_the_order_of_their_rank(document: dict[str, Any]) -> None:
    first, second = document["breaks"]
    assert (first["rank"], first["gb"], first["cost"]["total"]) == (1, "GB0170", STEADY.hits)
    assert (second["rank"], second["gb"], second["cost"]["steady"]) == (2, "GB0059", False)


def test_a_row_holds_what_the_text_says(document: dict[str, Any]) -> None:
    row = document["breaks"][0]
    assert (row["place"]["file"], row["place"]["line"], row["place"]["column"]) == ("refused.py", 7, 4)
    assert row["called_from"] is None
    assert row["source"] == "    if x.sum() > 0:"
    assert row["entries"] == ["f"]
    assert (row["remedy"]["action"], row["remedy"]["rule"]) == ("refused", "GBF101")
    assert row["remedy"]["details"]


def test_recompiles_and_those_that_need_nothing(document: dict[str, Any]) -> None:
    (row,) = document["recompiles"]
    assert (row["count"], row["limit_hit"], row["values"]) == (9, True, ["4", "6"])
    assert (row["place"]["line"], row["compiled"]["line"]) == (7, 6)
    (settled,) = document["recompiles_to_leave_alone"]
    assert (settled["rank"], settled["remedy"]["action"]) == (None, "nothing")


def test_the_run(document: dict[str, Any]) -> None:
    assert (document["version"], document["mode"], document["complete"]) == (1, "run", False)
    assert document["totals"]["sites"] == 2
    assert document["totals"]["recompiles"] == 10
    assert document["totals"]["limit_hits"] == 1
    assert document["problems"] == ["it was killed"]
    assert document["torch"] == ["2.13.0"]
