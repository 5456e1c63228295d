from __future__ import annotations

from pathlib import Path

from evidence_sample import branch, call_of_builtin, report, sizes

from gbfix.evidence.model import Cost


def test_rows_are_ranked_and_have_their_remedies(tmp_path: Path) -> None:
    made = report(
        tmp_path,
        breaks=(call_of_builtin(Cost()), branch("refused.py"), branch("safe.py")),
        recompiles=(sizes(), sizes(count=4)),
    )
    assert [(row.rank, row.site.place.file, row.remedy.action) for row in made.breaks] == [
        (1, "refused.py", "refused"),
        (2, "safe.py", "safe"),
        (3, "calls.py", "advice"),
    ]
    assert [(row.rank, row.found.count) for row in made.recompiles] == [(1, 4)]
    assert [(row.rank, row.found.count) for row in made.settled] == [(0, 1)]
