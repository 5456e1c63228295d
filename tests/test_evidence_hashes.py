from __future__ import annotations

import os
from pathlib import Path

from gbfix.evidence.hashes import CHANGED, file_hash, file_hashes, without_changed
from gbfix.evidence.model import Evidence

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_files_that_exist_by_name_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.py").touch()
    (tmp_path / "a.py").write_text("x = 1\n")
    elsewhere = tmp_path / "c.py"
    elsewhere.touch()
    names = ["b/x.py", "a.py", "gone.py", "<string>", "b", str(elsewhere), "a.py"]
    hashes = file_hashes(names, tmp_path.joinpath)
    assert list(hashes) == sorted([str(elsewhere), "a.py", "b/x.py"])
    assert hashes["b/x.py"] == hashes[str(elsewhere)] == EMPTY != hashes["a.py"]
    assert file_hash(tmp_path / "gone.py") is None


def test_a_file_that_changed_meanwhile_is_not_what_was_run(tmp_path: Path) -> None:
    for name, modified in (("old.py", 100.0), ("new.py", 300.0)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (modified, modified))
    evidence = Evidence(str(tmp_path), hashes=file_hashes(["old.py", "new.py"], tmp_path.joinpath))
    marked = without_changed(evidence, 200.0, "while the program ran")
    assert marked.hashes == {"old.py": EMPTY, "new.py": CHANGED}
    assert marked.problems == ("new.py changed while the program ran: its lines are not what was run; trace again",)
    assert without_changed(evidence, 300.0, "while the program ran") is evidence
