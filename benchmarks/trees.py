"""Look at whole trees of source: nothing crashes, every file that is no Python is named, a second run changes nothing.

    python benchmarks/trees.py FOLDER... [--assume-compiled] [--work FOLDER]

Of each tree (of an installed library, of Python's own `Lib`, ...)

1. `gbfix scan` reports no internal error, and names exactly those files that Python itself cannot read or parse;
2. `gbfix apply --unsafe` writes a copy of it, whose files still parse;
3. the same once more changes nothing.

With --assume-compiled every torch.nn.Module counts as compiled, so that far more is rewritten. Prints a table, and
exits 1 when anything does not hold.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START = "from gbfix.cli.main import main; main()"
LEFT_OUT = ("__pycache__", "site-packages", "node_modules", "__pypackages__")


@dataclass(frozen=True)
class Tree:
    """What came of one tree. changed: files that the first apply wrote."""

    name: str
    files: int
    unreadable: int
    findings: int
    changed: int
    seconds: float
    wrong: tuple[str, ...]


def main() -> int:
    """Look at each tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--assume-compiled", action="store_true")
    parser.add_argument("--work", type=Path, help="where copies are made (a scratch folder by default)")
    options = parser.parse_args()
    extra = ["--assume-compiled"] if options.assume_compiled else []
    trees = [_look_at(folder, extra, options.work) for folder in options.folders]
    print("| tree | files | not Python | findings | files written | seconds | wrong |\n|---|---|---|---|---|---|---|")
    for tree in trees:
        wrong = "; ".join(tree.wrong) or "nothing"
        shown = (tree.name, tree.files, tree.unreadable, tree.findings, tree.changed, round(tree.seconds), wrong)
        print(f"| {' | '.join(map(str, shown))} |")
    return int(any(tree.wrong for tree in trees))


def _look_at(folder: Path, extra: Sequence[str], work: Path | None) -> Tree:
    wrong: list[str] = []
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        copy = Path(scratch, folder.name)
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT, ".*", "*.so", "*.pyc"))
        files = sorted(path for path in copy.rglob("*.py") if path.is_file())
        unreadable = {str(path.relative_to(scratch)) for path in files if not _is_python(path)}
        report = _scan(scratch, folder.name, extra)
        problems = report["problems"]
        wrong += [text for text in problems if "internal error" in text][:3]
        named = {path for path in unreadable if any(text.startswith(f"{path}:") for text in problems)}
        wrong += [f"{path} is not named" for path in sorted(unreadable - named)][:5]
        first = _hashes(files)
        _apply(scratch, [folder.name], extra, wrong)
        second = _hashes(files)
        wrong += [f"{path} parses no more" for path in sorted(_broken(files, scratch) - unreadable)][:5]
        _apply(scratch, [folder.name], extra, wrong)
        third = _hashes(files)
        wrong += [f"{path} changed in a second run" for path in second if second[path] != third[path]][:5]
        changed = sum(first[path] != second[path] for path in first)
    findings = sum(len(file["findings"]) for file in report["files"])
    return Tree(folder.name, len(files), len(unreadable), findings, changed, time.monotonic() - started, tuple(wrong))


def _scan(scratch: str, name: str, extra: Sequence[str]) -> dict[str, Any]:
    ran = _gbfix(scratch, ["scan", "--output-format", "json", *extra, name])
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def _apply(scratch: str, names: Sequence[str], extra: Sequence[str], wrong: list[str]) -> None:
    ran = _gbfix(scratch, ["apply", "--unsafe", "--no-evidence", *extra, *names])
    wrong += [line for line in ran.stderr.splitlines() if "internal error" in line or "Traceback" in line][:3]


def _gbfix(scratch: str, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1"}
    command = [sys.executable, "-c", START, *words]
    return subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, check=False)


def _hashes(files: Sequence[Path]) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _broken(files: Sequence[Path], scratch: str) -> set[str]:
    return {str(path.relative_to(scratch)) for path in files if not _is_python(path)}


def _is_python(path: Path) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
