"""Each distinct observation is written once, with how often it was seen."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from gbfix.evidence.facts import MAX_DISTINCT, Facts
from gbfix.evidence.journal import Journal, read_journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"{os.getpid()}.jsonl"


@pytest.fixture
def facts(path: Path) -> Facts:
    return Facts(Journal(path))


def notes(path: Path, kind: str) -> list[dict[str, Any]]:
    return [note for note in read_journal(path) if note["kind"] == kind]


def counts(path: Path) -> dict[int, int]:
    return {note["id"]: note["count"] for note in notes(path, "observed")}


def test_equal_facts_are_written_once_and_counted(facts: Facts, path: Path) -> None:
    new = [facts.add("a.py", line, values={"x": x}) for line, x in ((1, 1), (1, 1), (1, 2), (2, 1), (1, 1))]
    facts.flush()
    assert new == [True, False, True, True, False]
    seen = [(note["line"], note["values"]["x"]) for note in notes(path, "observation")]
    assert seen == [(1, 1), (1, 2), (2, 1)]
    assert counts(path) == {0: 3, 1: 1, 2: 1}


def test_a_killed_process_loses_at_most_half_of_a_count(facts: Facts, path: Path) -> None:
    for _ in range(1000):
        facts.add("a.py", 1, values={})
    assert counts(path)[0] >= 500
    assert len(notes(path, "observed")) <= 12


def test_a_line_with_too_many_different_facts_is_not_covered(facts: Facts, path: Path) -> None:
    for number in range(MAX_DISTINCT + 10):
        facts.add("a.py", 1, values={"x": number})
    assert len(notes(path, "observation")) == MAX_DISTINCT
    (note,) = notes(path, "unwatched")
    assert (note["file"], note["line"]) == ("a.py", 1)
    assert str(MAX_DISTINCT) in note["reason"]
    assert not facts.add("a.py", 1, values={"x": 0}), "those that are known still count"


def test_a_line_is_unwatched_once(facts: Facts, path: Path) -> None:
    facts.unwatched("a.py", 1, "first")
    facts.unwatched("a.py", 1, "second")
    assert [note["reason"] for note in notes(path, "unwatched")] == ["first"]


def test_threads(facts: Facts, path: Path) -> None:
    threads = [threading.Thread(target=lambda: [facts.add("a.py", 1, x=n % 3) for n in range(300)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    facts.flush()
    assert counts(path) == {0: 400, 1: 400, 2: 400}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_writes_what_its_own_journal_lacks(facts: Facts, path: Path) -> None:
    facts.add("a.py", 1, x=1)
    child = os.fork()
    if child == 0:
        facts.flush()
        facts.add("a.py", 1, x=1)
        os._exit(0)
    os.waitpid(child, 0)
    own = path.with_name(f"{child}.jsonl")
    assert [note["x"] for note in notes(own, "observation")] == [1]
    assert counts(own) == {0: 1}


def test_facts_that_no_longer_change_cover_later_runs(facts: Facts, path: Path) -> None:
    for line, runs, changed_at in ((1, 10, 5), (2, 10, 6), (3, 0, 0)):
        facts.settle("a.py", line, runs, changed_at)
    assert [note["line"] for note in notes(path, "unwatched")] == [2]
