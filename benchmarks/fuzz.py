"""Rewrite generated programs and run both versions: everything that can be seen of them must stay the same.

    python benchmarks/fuzz.py --examples 100000 --jobs 2 [--seed 0] [--compiled-every 20] [--work FOLDER]

Half of the programs are generated from nothing (tests/generated_programs.py), half are golden cases with something
changed (tests/mutated_programs.py). Each is rewritten, and both versions are called several times
and compared as `gbfix check` compares: results, arguments, state, gradients, messages, exceptions, random numbers,
modes; one of `--compiled-every` also compiled with backend="eager". Fixes that assume something are made, too; where
they show a difference, the safe ones are compared alone, and one of `--checked-every` of these programs is given to
`gbfix apply --check`, which must not make the fixes that change it.

The work is cut into parts, each with a seed of its own, and what is done is kept in FOLDER (.gbfix/fuzz): the same
command goes on where it was stopped, and can be run on several machines with `--parts FROM:TO`. `--examples` counts
programs with at least one fix that was applied and compared. A difference is shrunk by hypothesis to a minimal
program, which is written into FOLDER/failures. Exits 1 when there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORKER = ROOT / "benchmarks" / "fuzz_worker.py"
PART = 400
"""Programs in one part."""
SECONDS = 3600
"""One part never takes longer."""


def main() -> int:
    """Run parts until enough programs with fixes were compared; print what came of all of them."""
    options = _options()
    folder = options.work / f"seed{options.seed}-compiled{options.compiled_every}-checked{options.checked_every}"
    folder.mkdir(parents=True, exist_ok=True)
    started, before = time.monotonic(), sum(part["fixed"] for part in _done(folder))
    numbers, lock = _open_parts(folder, options), Lock()

    def work() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            _run(number, folder, options)

    with ThreadPoolExecutor(options.jobs) as pool:
        for _ in range(options.jobs):
            pool.submit(work)
    parts = list(_done(folder))
    seconds = time.monotonic() - started
    _print(parts, (sum(part["fixed"] for part in parts) - before) / seconds * 60 if seconds else 0.0)
    return int(any(part["failures"] for part in parts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=1000, help="programs with at least one fix")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compiled-every", type=int, default=20)
    parser.add_argument("--checked-every", type=int, default=200)
    parser.add_argument("--parts", default="0:1000000", help="which parts this machine may run")
    parser.add_argument("--work", type=Path, default=ROOT / ".gbfix" / "fuzz")
    return parser.parse_args()


def _open_parts(folder: Path, options: argparse.Namespace) -> Iterator[int]:
    """The parts that are not done, until there are enough examples."""
    first, last = map(int, options.parts.split(":"))
    for number in range(first, last):
        if sum(part["fixed"] for part in _done(folder)) >= options.examples:
            return
        if not _file(folder, number).exists():
            yield number


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:06}.json"


def _done(folder: Path) -> Iterable[dict[str, Any]]:
    return (json.loads(file.read_text()) for file in sorted(folder.glob("*.json")))


def _run(number: int, folder: Path, options: argparse.Namespace) -> None:
    """One part in a process of its own, which may fail without taking the others along."""
    file = _file(folder, number)
    settings = [str(one) for one in (options.seed, number, PART, options.compiled_every, options.checked_every)]
    command = [sys.executable, str(WORKER), *settings, str(file), str(folder.parent / "failures")]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    try:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
        problem = ran.stderr if ran.returncode else ""
    except subprocess.TimeoutExpired:
        problem = f"took more than {SECONDS} s"
    if problem:
        told = folder.parent / "failures" / f"part{number}.txt"
        told.parent.mkdir(exist_ok=True)
        told.write_text(problem)
        print(f"part {number} failed, see {told}", file=sys.stderr, flush=True)
        return
    part = json.loads(file.read_text())
    print(f"part {number}: {part['fixed']} of {part['programs']} with fixes, {part['seconds']:.0f} s", flush=True)
    for failure in part["failures"]:
        print(f"DIFFERENT: {failure}", flush=True)


def _print(parts: list[dict[str, Any]], rate: float) -> None:
    def total(name: str) -> int:
        return sum(part[name] for part in parts)

    def counted(name: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for part in parts:
            found.update(part[name])
        return found

    print(f"\n{total('programs')} programs, {total('fixed')} with fixes that were compared ({rate:.0f} a minute)")
    print(f"{total('safe')} with safe fixes alone; {total('compiled')} of all also compiled")
    print(f"{total('unsafe')} with unsafe fixes; {total('assumed')} of these changed something, as an assumption says;")
    print(f"{total('checked')} of those given to a check, of which {total('let_through')} were let through")
    print(f"different: {sum(len(part['failures']) for part in parts)}")
    fired, decided = counted("fired"), counted("decided")
    print("\n| rule | fixes applied | safe | unsafe | refused |\n|---|---|---|---|---|")
    found = counted("found")
    for code in sorted({key.split()[0] for key in found} | {code for part in parts for code in part["rules"]}):
        columns = [str(found[f"{code} {safety}"]) for safety in ("safe", "unsafe", "refused")]
        print(f"| {code} | {fired[code]} | {' | '.join(columns)} |")
    print("\n| obligation that alone decided | findings |\n|---|---|")
    for claim, number in sorted(decided.items(), key=lambda item: (-item[1], item[0])):
        print(f"| {claim} | {number} |")


if __name__ == "__main__":
    sys.exit(main())
