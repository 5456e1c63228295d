"""The look at whole trees counts what is there, and tells what does not hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cli_project import SAFE

TREES = Path(__file__).parent.parent / "benchmarks" / "trees.py"


def test_a_tree_with_a_file_that_is_no_python(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "inner").mkdir(parents=True)
    (tree / "choose.py").write_text(SAFE)
    (tree / "inner" / "broken.py").write_text("def f(:\n")
    done = subprocess.run([sys.executable, str(TREES), str(tree)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    row = [cell.strip() for cell in done.stdout.splitlines()[-1].split("|")[1:-1]]
    assert row[:5] == ["tree", "2", "1", "1", "1"]
    assert row[6] == "nothing"
    assert (tree / "choose.py").read_text() == SAFE
