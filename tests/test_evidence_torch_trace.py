from __future__ import annotations

import re
from pathlib import Path

import pytest
from evidence_runs import Run, run

from gbfix.engine.model import GbfixError
from gbfix.evidence.reader import read_evidence
from gbfix.evidence.torch_trace import read_torch_trace


@pytest.fixture(scope="module")
def recompiling() -> Run:
    return run("evidence_recompiling.py")


@pytest.fixture
def file(recompiling: Run) -> Path:
    (found,) = recompiling.trace.iterdir()
    return found


def test_the_notes_are_those_of_a_journal(file: Path) -> None:
    notes = list(read_torch_trace(file))
    kinds = [note["kind"] for note in notes]
    assert (kinds[0], kinds[-1]) == ("process", "end")
    assert set(kinds) == {"process", "torch", "trace", "end"}
    (version,) = (note["version"] for note in notes if note["kind"] == "torch")
    assert re.match(r"\d+\.\d+", version)
    assert notes[0]["pid"] > 1
    assert notes[0]["rank"] is None
    assert any(note["payload"] for note in notes if note["kind"] == "trace")


def test_a_folder_and_the_ranks_in_file_names(file: Path, tmp_path: Path) -> None:
    (tmp_path / "node0").mkdir()
    for rank in (0, 11):
        (tmp_path / "node0" / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(file.read_bytes())
    (tmp_path / "notes.txt").write_text("not a trace\n")
    evidence = read_evidence(read_torch_trace(tmp_path), root=tmp_path, mode="torch_trace")
    assert [process.rank for process in evidence.processes] == [0, 11]
    assert evidence.recompiles
    assert all(row.ranks == (0, 11) for row in evidence.recompiles)


@pytest.mark.parametrize("part", [0.2, 0.41, 0.6])
def test_of_a_file_that_was_cut_off_what_is_there_is_read(file: Path, tmp_path: Path, part: float) -> None:
    data = file.read_bytes()
    cut = tmp_path / "cut.log"
    cut.write_bytes(data[: int(len(data) * part)])
    whole = read_evidence(read_torch_trace(file), root=tmp_path, mode="torch_trace")
    evidence = read_evidence(read_torch_trace(cut), root=tmp_path, mode="torch_trace")
    assert 0 < len(evidence.recompiles) < len(whole.recompiles)
    assert evidence.recompiles[0] == whole.recompiles[0]


def test_lines_of_other_programs_and_broken_records_are_passed_over(file: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.log"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    begin = next(number for number, line in enumerate(lines) if '"dynamo_start"' in line)
    prefix = "V1129 12:00:00.000000 1 a.py:1] "
    deep = '{"deep": ' + "[" * 100_000
    lines[begin:begin] = ["hello\n", "\tno payload of anything\n", prefix + '{"broken": \n', prefix + deep + "\n"]
    mixed.write_bytes(b"\xff\xfe\n" + "".join(lines).encode())
    read = [read_evidence(read_torch_trace(path), root=tmp_path, mode="torch_trace") for path in (file, mixed)]
    assert read[0] == read[1]


def test_binary_files_in_a_folder_are_passed_over(file: Path, tmp_path: Path) -> None:
    (tmp_path / "trace.log").write_bytes(file.read_bytes())
    expected = list(read_torch_trace(tmp_path))
    (tmp_path / "model.bin").write_bytes(b"PK\0\0\n" + file.read_bytes())
    assert list(read_torch_trace(tmp_path)) == expected


def test_files_without_a_record_are_errors_that_name_them(tmp_path: Path) -> None:
    for name, text in (("empty.log", ""), ("other.log", "hello\nV1129 12:00:00.000000 1 a.py:1] text\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(GbfixError, match=rf"{name}: no record of TORCH_TRACE"):
            list(read_torch_trace(tmp_path / name))
    with pytest.raises(GbfixError, match=rf"{tmp_path.name}: no TORCH_TRACE file is in this folder"):
        list(read_torch_trace(tmp_path))
    with pytest.raises(GbfixError, match=r"gone.log: cannot be read: No such file"):
        list(read_torch_trace(tmp_path / "gone.log"))
