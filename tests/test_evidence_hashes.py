from __future__ import annotations

from pathlib import Path

from gbfix.evidence.hashes import file_hash, file_hashes

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_files_that_exist_by_name_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.py").touch()
    (tmp_path / "a.py").write_text("x = 1\n")
    elsewhere = tmp_path / "c.py"
    elsewhere.touch()
    names = ["b/x.py", "a.py", "gone.py", "<string>", "b", str(elsewhere), "a.py"]
    hashes = file_hashes(names, tmp_path)
    assert list(hashes) == sorted([str(elsewhere), "a.py", "b/x.py"])
    assert hashes["b/x.py"] == hashes[str(elsewhere)] == EMPTY != hashes["a.py"]
    assert file_hash(tmp_path / "gone.py") is None
