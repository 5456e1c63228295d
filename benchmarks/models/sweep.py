"""Fix real models with gbfix, and compare them before and after: graphs, breaks, bits and times.

    python benchmarks/models/sweep.py [--suite SUITE]... [--only ROWS] [--work FOLDER] [--jobs N] [--time]

Builds scratch environments with PyTorch and the libraries, without gbfix, and downloads no weights: the models are
tiny and random. For each row it measures the library as installed, runs `gbfix fix` on a program that uses it, and
measures again with the overlay that this left. Outputs, gradients, buffers, random state and messages are compared
to the bit, eager and compiled, on several seeds and on data for each branch.

Needs a package index and some minutes a row. With --work, a second run reuses the environments. The results go to
results.json beside this script and into benchmarks/RESULTS.md; rows that are not run keep what they had. Exits 1 when
a row failed or differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import environments
from compare import Compared, Measured, compared, fixed_of, ratios
from places import without_machine
from report import document, from_document, line, write_section
from table import LIBRARIES, SUITES, Row, chosen

HERE = Path(__file__).resolve().parent
WORKER = HERE / "worker.py"
RESULTS = HERE / "results.json"
REPORT = HERE.parent / "RESULTS.md"
MEASURE_SECONDS = 900.0
FIX_SECONDS = 1800.0
BEGIN_SECONDS = 1200
"""gbfix begins nothing new after this time."""
PAIRS = 3
"""How often each arm is timed, in turns."""


class RowError(Exception):
    """A row came to no result; the text says why."""


@dataclass(frozen=True)
class Place:
    """Where a row is worked on, and with what."""

    folder: Path
    python: Path
    gbfix: str


def main() -> int:
    """Run the rows that were asked for and give the exit status."""
    options = parse(sys.argv[1:])
    try:
        rows = chosen(options.suite or (), [name for part in options.only for name in part.split(",") if name])
    except KeyError as error:
        print(f"sweep: there is no row {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        work = (options.work or Path(scratch)).resolve()
        try:
            pythons = {suite: environments.python_of(suite, work) for suite in dict.fromkeys(row.suite for row in rows)}
        except environments.NoEnvironmentError as error:
            print(f"sweep: {error}", file=sys.stderr)
            return 2
        with ThreadPoolExecutor(options.jobs) as pool:
            found = []
            for result in pool.map(
                lambda row: work_on(row, place_of(row, work, pythons, options.gbfix), options), rows
            ):
                found.append(result)
                save([result])  # a run of hours that is cut off keeps what it has
    return 1 if any(row.error or row.differences for row in found) else 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=SUITES, help="only this table; can be given again")
    parser.add_argument("--only", action="append", default=[], metavar="ROWS", help="only these, comma separated")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keep environments and overlays in this folder")
    parser.add_argument("--jobs", type=int, default=1, help="rows at once (default: 1; leave it there with --time)")
    parser.add_argument("--gbfix", default=gbfix_command(), metavar="PROGRAM", help="default: that of this Python")
    parser.add_argument("--time", action="store_true", help="time each row with inductor too")
    return parser.parse_args(arguments)


def save(found: Sequence[Compared]) -> None:
    """Put these rows among those that the results have already."""
    known = {row.row.id: row for row in from_document(json.loads(RESULTS.read_text()))} if RESULTS.exists() else {}
    known.update({row.row.id: row for row in found})
    rows = [known[row.id] for row in chosen((), ()) if row.id in known]
    RESULTS.write_text(json.dumps(document(rows), indent=1) + "\n")
    write_section(REPORT, rows)


def place_of(row: Row, work: Path, pythons: Mapping[str, Path], gbfix: str) -> Place:
    """An empty folder for a row."""
    return Place(fresh(work / "rows" / row.suite / row.name), pythons[row.suite], gbfix)


def work_on(row: Row, place: Place, options: argparse.Namespace) -> Compared:
    """Measure, fix and measure again. A row that fails says why."""
    try:
        result = fixed(row, place)
        if options.time:
            result = replace(result, times=times(row, place))
    except RowError as error:
        result = Compared(row, error=without_machine(str(error), str(place.folder)))
    print(line(result), flush=True)
    return result


def gbfix_command() -> str:
    """The gbfix of this Python, else of the path."""
    beside = Path(sys.executable).with_name("gbfix")
    return str(beside) if beside.exists() else "gbfix"


def fixed(row: Row, place: Place) -> Compared:
    """A row before and after `gbfix fix`. Raises RowError."""
    worker = [str(place.python), str(WORKER), row.id]
    before = measured(place, "before", [*worker, "--do", "measure"])
    said = fix(row, place, worker)
    edited = overlaid(place)
    after = measured(place, "after", [*overlay_run(place), *worker, "--do", "measure"])
    return compared(row, before, after, edited=edited, unused=unused(place), fixed=fixed_of(said, str(place.folder)))


def overlay_run(place: Place) -> list[str]:
    """What goes in front of a command so that it loads the fixed copies; nothing where there are none."""
    return [place.gbfix, "run", "--"] if (place.folder / ".gbfix" / "overlay").exists() else []


def measured(place: Place, name: str, command: Sequence[str]) -> Measured:
    """The document that a worker prints. Raises RowError."""
    return read_document(run(place, name, command, MEASURE_SECONDS), name)


def read_document(printed: str, name: str) -> Measured:
    """The JSON at the end of what a command printed. Raises RowError."""
    start = 0 if printed.startswith("{") else printed.find("\n{\n") + 1
    try:
        found: dict[str, Any] = json.loads(printed[start:])
    except ValueError as error:
        raise RowError(f"{name}: it printed no document") from error
    return found


def fix(row: Row, place: Place, worker: Sequence[str]) -> Measured:
    """Let gbfix fix the library, in the overlay of this folder; what it says of that. Raises RowError."""
    (library,) = place.python.parent.parent.glob(f"lib/python*/site-packages/{LIBRARIES[row.suite]}")
    options = ["--yes", "--output-format", "json", "--within", str(library), "--time-limit", str(BEGIN_SECONDS)]
    printed = run(place, "fix", [place.gbfix, "fix", *options, "--", *worker], FIX_SECONDS, accepted=(0, 1))
    return read_document(printed, "fix")


def overlaid(place: Place) -> list[str]:
    """The files that have fixed copies, as seen from the library's folder."""
    manifest = place.folder / ".gbfix" / "overlay" / "manifest.json"
    if not manifest.exists():
        return []
    return sorted(file["copy"] for file in json.loads(manifest.read_text())["files"])


def unused(place: Place) -> list[str]:
    """The copies that the measurement afterwards did not load, as `gbfix run` says."""
    said = (place.folder / "after.stderr").read_text(errors="replace")
    return [text.strip() for text in said.splitlines() if "never loaded" in text]


def times(row: Row, place: Place) -> dict[str, float]:
    """Time after over time before with inductor, each arm with a compile cache of its own, in turns."""
    sides: dict[str, list[Measured]] = {"before": [], "after": []}
    for pair in range(PAIRS):
        for side in ("before", "after") if pair % 2 == 0 else ("after", "before"):
            prefix = overlay_run(place) if side == "after" else []
            command = [*prefix, str(place.python), str(WORKER), row.id, "--do", "time"]
            cache = fresh(place.folder / f"cache-{side}-{pair}")
            printed = run(place, f"time-{side}-{pair}", command, MEASURE_SECONDS, cache=cache)
            sides[side].append(read_document(printed, "time"))
            shutil.rmtree(cache)
    return ratios(sides["before"], sides["after"])


def fresh(folder: Path) -> Path:
    """An empty folder at this path."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def run(
    place: Place,
    name: str,
    command: Sequence[str],
    seconds: float,
    *,
    accepted: Sequence[int] = (0,),
    cache: Path | None = None,
) -> str:
    """What a command prints in the row's folder, which keeps it all. Raises RowError."""
    environ = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    if cache is not None:
        environ["TORCHINDUCTOR_CACHE_DIR"] = str(cache)
    out, err = place.folder / f"{name}.stdout", place.folder / f"{name}.stderr"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        try:
            process = subprocess.Popen(
                list(command), cwd=place.folder, env=environ, stdout=stdout, stderr=stderr, start_new_session=True
            )
        except OSError as error:
            raise RowError(f"{name}: {error}") from error
        status = wait(process, seconds)
    if status is None:
        raise RowError(f"{name}: took longer than {seconds:.0f} s")
    if status not in accepted:
        last = err.read_text(errors="replace").strip().splitlines()[-3:]
        raise RowError(f"{name}: exit status {status}: {' / '.join(last)[-500:]}")
    return out.read_text(errors="replace")


def wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit status; None after this time. What the process started ends with it."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
