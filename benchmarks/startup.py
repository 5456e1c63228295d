"""What starting `gbfix` costs: CPU time of whole processes, over that of a Python that does nothing.

    python benchmarks/startup.py [--rounds N]

Each round runs every command once, so that what else the machine does falls on all alike. The table gives the median
over the rounds of the CPU time (user and system, children included, in milliseconds), and of the difference to the
bare Python of the same round. Bytecode is written in a first round that does not count: an installed gbfix has it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
START = "from gbfix.cli.main import main; main()"
PLAIN = "def add(a, b):\n    return a + b\n"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21, help="how often each command runs (default: 21)")
    rounds = parser.parse_args().rounds
    with TemporaryDirectory() as folder:
        plain = Path(folder, "plain.py")
        plain.write_text(PLAIN, encoding="utf-8")
        example = str(ROOT / "examples" / "scalar_branch.py")
        commands = {
            "bare: python -c pass": ["-c", "pass"],
            "gbfix --version": ["-c", START, "--version"],
            "gbfix scan of a file without compiled code": ["-c", START, "scan", str(plain)],
            "gbfix scan examples/scalar_branch.py": ["-c", START, "scan", example],
            "the same with --select GBF101, read by Typer": ["-c", START, "scan", "--select", "GBF101", example],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(rounds + 1):
            for name, words in commands.items():
                taken = _cpu_seconds([sys.executable, *words], Path(folder))
                if number:
                    seconds[name].append(taken)
    bare, *_ = seconds.values()
    print(f"{'':46}{'CPU ms':>8}{'over bare':>11}")
    for name, taken in seconds.items():
        over = median(one - other for one, other in zip(taken, bare, strict=True))
        print(f"{name:46}{median(taken) * 1000:8.0f}{over * 1000:11.0f}")


def _cpu_seconds(command: list[str], folder: Path) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


if __name__ == "__main__":
    main()
