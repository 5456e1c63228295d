from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.cli.evidence_target import check_writable, evidence_target, project_root
from gbfix.engine.model import GbfixError, WriteError


def test_the_root_is_the_repository_or_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    assert project_root() == inner.resolve()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    assert project_root() == tmp_path.resolve()


def test_a_current_folder_that_was_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(GbfixError, match="the current folder was removed"):
        project_root()


def test_evidence_goes_below_the_root_or_where_the_user_says(tmp_path: Path) -> None:
    assert evidence_target(None, tmp_path) == tmp_path / ".gbfix" / "evidence.json"
    assert evidence_target(None, tmp_path, overlay=True) == tmp_path / ".gbfix" / "evidence-overlay.json"
    assert (tmp_path / ".gbfix").is_dir()
    assert evidence_target(tmp_path / "mine.json", tmp_path) == tmp_path / "mine.json"


@pytest.mark.parametrize("name", ["train.py", "missing/evidence.json", "."])
def test_a_place_that_cannot_be_meant_is_refused_before_anything_runs(tmp_path: Path, name: str) -> None:
    with pytest.raises(WriteError, match=r"name another file|there is no folder"):
        check_writable(tmp_path / name, "--evidence evidence.json")
