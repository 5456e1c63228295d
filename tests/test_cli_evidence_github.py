from __future__ import annotations

from pathlib import Path

import pytest
from evidence_sample import branch, report, sizes

from gbfix.cli.evidence_github import evidence_github
from gbfix.evidence.model import Break, Place


def _lines(root: Path, **changes: object) -> list[str]:
    return evidence_github(report(root, **changes), top=20).decode().splitlines()


def test_a_warning_for_each_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = _lines(tmp_path, breaks=(branch("safe.py"),), recompiles=(sizes(count=2),))
    assert lines[0] == (
        "::warning file=safe.py,line=7,col=5,endColumn=17,title=Graph break 1::GB0170 Data-dependent branching%0A"
        "cost: 2.0 hits per call x 400 calls, 1.5 ms per call until the next break%0A"
        "GBF101 tensor-value-branch, safe: gbfix rewrites it%0Agbfix apply safe.py"
    )
    assert lines[1].startswith("::warning file=safe.py,line=6,title=Recompile 1::another size of x ")


def test_files_are_named_from_the_root_wherever_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert "file=safe.py," in _lines(tmp_path, breaks=(branch("safe.py"),))[0]


def test_text_is_escaped(tmp_path: Path) -> None:
    site = Break(Place("a,b:c.py", 1), kind="50% of x\nand more")
    line = _lines(tmp_path, breaks=(site,))[0]
    assert line.startswith("::warning file=a%2Cb%3Ac.py,line=1,title=Graph break 1::50%25 of x%0Aand more%0A")


def test_totals_and_problems_are_notices(tmp_path: Path) -> None:
    lines = _lines(tmp_path, problems=("it was killed",))
    assert lines[0] == "::notice title=gbfix::it was killed"
    assert lines[1].startswith("::notice title=gbfix::gbfix trace, PyTorch 2.13.0")


def test_rows_beyond_top_are_left_out(tmp_path: Path) -> None:
    made = report(tmp_path, breaks=(branch("safe.py"), branch("unsafe.py")))
    assert evidence_github(made, top=1).decode().count("::warning ") == 1
