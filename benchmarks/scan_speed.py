"""How fast `gbfix scan` is, beside parsing the same files once, and beside other tools.

    python benchmarks/scan_speed.py TREE [--copies 10] [--torchfix PYTHON] [--rounds 3]

Everything is measured in one run, in turns, so that the ratios hold whatever else the machine does; the medians are
printed as a table. `--copies` also measures that many copies of the tree (hard links). `--torchfix` is an interpreter
with torchfix and libcst: its linter with all rules, and LibCST's own codemod that changes nothing, are then measured
too, each in one process. Bytecode of gbfix is written before, as installing does. Needs POSIX, for the memory of child
processes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PARSE = """
import ast, sys
for name in open(sys.argv[1]).read().splitlines():
    try:
        with open(name, "rb") as file:
            ast.parse(file.read())
    except (SyntaxError, ValueError):
        pass
"""
_GBFIX = "from gbfix.cli.main import main\nif __name__ == '__main__':\n    main()\n"


@dataclass(frozen=True)
class Measured:
    """Seconds of wall clock, and the largest resident memory of any one process, in megabytes."""

    seconds: float
    megabytes: float


def measure(command: Sequence[str], environment: dict[str, str]) -> Measured:
    """Run a command to its end, whatever its exit status."""
    started = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)  # its largest child counts where it is larger than the process itself
    process.returncode = 0
    return Measured(time.perf_counter() - started, usage.ru_maxrss / 1024)


def copied(tree: Path, copies: int, folder: Path) -> Path:
    """A folder with copies of a tree, of hard links where the disk has them."""
    for number in range(copies):
        for path in tree.rglob("*.py"):
            to = folder / f"copy_{number}" / tree.name / path.relative_to(tree)
            to.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, to)
            except OSError:
                to.write_bytes(path.read_bytes())
    return folder


def commands_for(tree: Path, work: Path, torchfix: str | None) -> dict[str, list[str]]:
    """What is measured on one tree, by its words in the table."""
    listing = work / f"{tree.name}.txt"
    listing.write_text("\n".join(sorted(str(path) for path in tree.rglob("*.py"))), encoding="utf-8")
    gbfix = [sys.executable, str(work / "gbfix_command.py"), "scan", str(tree)]
    found = {
        "ast.parse of every file": [sys.executable, "-c", _PARSE, str(listing)],
        "gbfix scan, 1 process": [*gbfix, "--jobs", "1", "--no-cache"],
        "gbfix scan, 2 processes": [*gbfix, "--jobs", "2", "--no-cache"],
        "gbfix scan, nothing changed": gbfix,
    }
    if torchfix is not None:
        copy = copied(tree, 1, work / f"{tree.name}_for_libcst")
        no_change = ["-m", "libcst.tool", "codemod", "noop.NOOPCommand", str(copy), "--no-format", "-j", "1"]
        found["LibCST codemod that changes nothing"] = [torchfix, *no_change]
        found["TorchFix, all rules"] = [torchfix, "-m", "torchfix", "--select", "ALL", "-j", "1", str(tree)]
    return found


def table(tree: Path, work: Path, rounds: int, torchfix: str | None) -> list[str]:
    """Measure one tree; the lines of its table."""
    environment = {**os.environ, "GBFIX_CACHE_DIR": str(work / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    commands = commands_for(tree, work, torchfix)
    measure(commands["gbfix scan, nothing changed"], environment)  # fills the cache, and that of the disk
    taken: dict[str, list[Measured]] = {words: [] for words in commands}
    for _ in range(rounds):
        for words, command in commands.items():
            taken[words].append(measure(command, environment))
    seconds = {words: statistics.median(one.seconds for one in found) for words, found in taken.items()}
    base = seconds["ast.parse of every file"]
    count = sum(1 for _ in tree.rglob("*.py"))
    lines = [f"| {tree.name}, {count} files | seconds | of parsing | peak MB |", "|---|---|---|---|"]
    for words, found in taken.items():
        peak = max(one.megabytes for one in found)
        lines.append(f"| {words} | {seconds[words]:.2f} | {seconds[words] / base:.2f} | {peak:.0f} |")
    return lines


def main() -> None:
    """Measure the trees and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, nargs="+")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--torchfix", metavar="PYTHON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "gbfix_command.py").write_text(_GBFIX, encoding="utf-8")
        for tree in options.tree:
            print("\n".join(table(tree.resolve(), work, options.rounds, options.torchfix)), flush=True)
            if options.copies > 1:
                many = copied(tree.resolve(), options.copies, work / f"{tree.name}_x{options.copies}")
                print("\n".join(table(many, work, 1, None)), flush=True)


if __name__ == "__main__":
    main()
