from __future__ import annotations

import json
import stat
from dataclasses import fields
from pathlib import Path

import pytest

from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.engine.model import GbfixError, WriteError
from gbfix.evidence.model import (
    VERSION,
    ArgumentsSeen,
    Break,
    Cost,
    Entry,
    Evidence,
    Fragment,
    Place,
    Process,
    Recompile,
)
from gbfix.evidence.store import find_evidence, load_evidence, save_evidence

TENSOR = ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", ("s0", 3), (3, 1)))
PLACE = Place("größe.py", 3, "f", 4, 3, 9)
EVIDENCE = Evidence(
    root="/p",
    command=("python", "a.py"),
    exit_status=3,
    complete=False,
    problems=("one",),
    processes=(Process(5, 0, ("a.py",), "3.11.7", "2.13.0", {"x": "1"}),),
    entries=(Entry("f", PLACE, PLACE, arguments=(ArgumentsSeen({"x": TENSOR}, 4),)),),
    fragments=(Fragment("0/0", PLACE, 5, "f", 3, 2, True, "", Cost(True, 1.5, 4, 0.1)),),
    breaks=(Break(PLACE, "GB0170", stack=(PLACE,), project=PLACE, ranks=(0, 1)),),
    recompiles=(Recompile(PLACE, "n == 1", "value", "n", ("1", "2"), PLACE),),
    observations=(Observation("a.py", 3, "f", values={"x": TENSOR}, aliases=(("x", "y"),)),),
    unwatched=(PLACE,),
    hashes={"a.py": "0f"},
)


def test_a_document_comes_back_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "evidence.json"
    save_evidence(EVIDENCE, file)
    assert load_evidence(file) == EVIDENCE
    assert [path.name for path in tmp_path.iterdir()] == ["evidence.json"]


def test_it_can_be_read_by_people(tmp_path: Path) -> None:
    file = tmp_path / "evidence.json"
    save_evidence(EVIDENCE, file)
    text = file.read_text(encoding="utf-8")
    assert "größe.py" in text
    assert list(json.loads(text)) == [field.name for field in fields(Evidence)]
    assert json.loads(text)["version"] == VERSION
    assert max(map(len, text.splitlines())) < 120
    assert text.endswith("}\n")


def test_a_file_that_is_there_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    save_evidence(EVIDENCE, link)
    assert link.is_symlink()
    assert load_evidence(target) == EVIDENCE
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match=r"evidence.json: the evidence cannot be written: No such file"):
        save_evidence(EVIDENCE, tmp_path / "no" / "evidence.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is cut off or no JSON"),
        (b"hello", "is cut off or no JSON"),
        (b"\xff\xfe", "is cut off or no JSON"),
        (b"[]", "no evidence of gbfix"),
        (b'{"a": 1}', "no evidence of gbfix"),
        (b'{"version": 1, "root": "/p", "breaks": 3}', "is no evidence that this gbfix understands"),
        (f'{{"version": {VERSION + 1}, "root": "/p", "new": 1}}'.encode(), "was written by a newer gbfix"),
    ],
)
def test_other_files_are_errors_that_name_them(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "evidence.json"
    file.write_bytes(data)
    with pytest.raises(GbfixError, match=rf"evidence.json: .*{message}"):
        load_evidence(file)


def test_a_file_that_was_cut_off_at_any_place(tmp_path: Path) -> None:
    file = tmp_path / "evidence.json"
    save_evidence(EVIDENCE, file)
    data = file.read_bytes()
    for length in range(0, len(data) - 2, 37):
        file.write_bytes(data[:length])
        with pytest.raises(GbfixError, match=r"evidence.json: .*run `gbfix trace"):
            load_evidence(file)


def test_a_missing_one_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(GbfixError, match=r"evidence.json: no evidence can be read: .*run `gbfix trace -- CMD`"):
        load_evidence(find_evidence(tmp_path))
