from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.cli.fix_texts import Texts
from gbfix.cli.outcome import Entry, FileOutcome, Outcome
from gbfix.engine.files import read_source
from gbfix.engine.model import Finding, Span


def finding(line: int) -> Finding:
    return Finding("GBF101", "n", Span(line, 0, line, 1), "m", "f", "r")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("one\ntwo\n")
    (tmp_path / "b.py").write_text("other\n")
    (tmp_path / "bad.py").write_bytes(b"\xff\n")
    return tmp_path


def test_what_is_planned_stands_in_for_what_is_on_disk(folder: Path) -> None:
    texts = Texts().with_files(folder / name for name in ("a.py", "b.py", "bad.py", "a.py"))
    assert sorted(texts.originals) == ["a.py", "b.py"]
    assert texts.rewrites() == []
    source = read_source(Path("a.py"))
    first = texts.with_outcome(Outcome((FileOutcome(source, "new\none\ntwo\n", (Entry(finding(1)),)),), (), 0))
    second = first.with_outcome(Outcome((FileOutcome(source, "new\none\nTWO\n", (Entry(finding(3)),)),), (), 0))
    assert [each.text for each in second.inputs().sources] == ["new\none\nTWO\n", "other\n"]
    assert second.read(folder / "a.py").text == "new\none\nTWO\n"
    (rewrite,) = second.rewrites()
    assert (rewrite.path, rewrite.before, rewrite.after) == (folder / "a.py", b"one\ntwo\n", b"new\none\nTWO\n")
    changed, same = second.files()
    assert [entry.finding.span.line for entry in changed.applied] == [1, 2]
    assert not same.changed
    (change,) = second.changes().values()
    assert (change.original.text, change.rewritten.text) == ("one\ntwo\n", "new\none\nTWO\n")
    assert second.finding("a.py", finding(3)).span.line == 2


def test_of_a_file_that_is_not_worked_on_nothing_is_planned(folder: Path) -> None:
    texts = Texts().with_files([folder / "a.py"])
    assert texts.finding("b.py", finding(1)) == finding(1)
    assert texts.read(folder / "b.py").text == "other\n"
