from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gbfix.engine.model import WriteError
from gbfix.equivalence.model import (
    Bench,
    BranchReached,
    BreakSite,
    Condition,
    Counterexample,
    Counts,
    Difference,
    Exercised,
    Mode,
    Status,
    Timing,
    Verdict,
)
from gbfix.equivalence.store import checks_file, load_verdicts, reusable, save_verdict

TIMING = Timing(1.5, (0.1, 0.2), 7)
COUNTS = Counts(3, (BreakSite("m.py", 3, "GB0170", "Data-dependent branching"),), 1, 2, 3, 1, False, "why", "E: no")
FULL = Verdict(
    "größe:f",
    Status.DIFFERENT,
    "the result differs",
    Counterexample("x=1", "import torch\n", (Difference("value", "result", "1", "2", Mode.COMPILED, 3, True),), True),
    (BranchReached(Condition("/p/m.py", 3, 4, "x > 0"), 61, 39),),
    Exercised(100, 90, 10),
    COUNTS,
    replace(COUNTS, graphs=1),
    Bench(TIMING, TIMING, 0.9, 0.8, 1.1, True),
    "differs",
    "14 recorded calls",
    ("m.py:3 GBF101",),
    "eager",
    "cpu",
    "2.13.0",
    1.5,
    "k1",
    4,
)
EQUAL = Verdict("m:f", Status.EQUAL, "fine", backend="eager", device="cpu", key="k2")


def test_a_verdict_comes_back_as_it_was(tmp_path: Path) -> None:
    save_verdict(tmp_path, FULL)
    save_verdict(tmp_path, EQUAL)
    assert load_verdicts(tmp_path) == (FULL, EQUAL)
    assert "größe:f" in checks_file(tmp_path).read_text(encoding="utf-8")
    assert (tmp_path / ".gbfix" / ".gitignore").read_text() == "*\n"


def test_only_what_was_found_equal_is_used_again() -> None:
    close = replace(EQUAL, status=Status.CLOSE, key="k3")
    not_tested = replace(EQUAL, status=Status.NOT_TESTED, key="k4")
    verdicts = (FULL, EQUAL, close, not_tested)
    assert [reusable(verdicts, key) for key in ("k1", "k2", "k3", "k4", "k5")] == [None, EQUAL, close, None, None]


def test_a_new_verdict_replaces_that_of_the_same_target_and_settings(tmp_path: Path) -> None:
    others = [replace(EQUAL, device="cuda"), replace(EQUAL, backend="inductor"), replace(EQUAL, target="m:g")]
    new = replace(EQUAL, status=Status.DIFFERENT, key="k9")
    for verdict in (EQUAL, *others, new):
        save_verdict(tmp_path, verdict)
    assert load_verdicts(tmp_path) == (*others, new)


def test_the_document_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gbfix.equivalence.store._VERDICTS_KEPT", 3)
    for number in range(5):
        save_verdict(tmp_path, replace(EQUAL, target=f"m:f{number}"))
    assert [verdict.target for verdict in load_verdicts(tmp_path)] == ["m:f2", "m:f3", "m:f4"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"version": 99, "verdicts": []}', b'{"version": "x"}'])
def test_another_document_counts_as_none_and_is_replaced(tmp_path: Path, data: bytes) -> None:
    (tmp_path / ".gbfix").mkdir()
    checks_file(tmp_path).write_bytes(data)
    assert load_verdicts(tmp_path) == ()
    save_verdict(tmp_path, EQUAL)
    assert load_verdicts(tmp_path) == (EQUAL,)


def test_one_damaged_verdict_does_not_lose_the_others(tmp_path: Path) -> None:
    save_verdict(tmp_path, FULL)
    save_verdict(tmp_path, EQUAL)
    document = json.loads(checks_file(tmp_path).read_text(encoding="utf-8"))
    document["verdicts"][0]["status"] = "fine"
    checks_file(tmp_path).write_text(json.dumps(document), encoding="utf-8")
    assert load_verdicts(tmp_path) == (EQUAL,)


def test_a_folder_that_leads_elsewhere_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / ".gbfix").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError, match="is a symbolic link"):
        save_verdict(tmp_path / "p", EQUAL)
