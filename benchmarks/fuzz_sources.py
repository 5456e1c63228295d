"""Show that no source brings gbfix down: real programs changed at random, looked at and fixed as commands do it.

    python benchmarks/fuzz_sources.py [--examples N] [--jobs K] [--seed S] [--failures FOLDER] [--hypothesmith N]

Each example is one of golden/*/*/before.py, tests/hostile/**/*.py and examples/*.py after some changes (see
`source_mutations`). It is scanned, and fixed with and without unsafe fixes. There must be no internal error and no
rules that undo each other; what comes out must be Python, differ only where a fix is reported, and stay as it is when
it is fixed again. Example I of seed S is always the same text. Failing texts are written into FOLDER.

--hypothesmith also tries N programs that the package of that name makes out of Python's grammar, where it is installed.
Exits 1 when there is a failure.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from source_mutations import is_python, mutated

from gbfix.cli.choices import preferences_of
from gbfix.cli.inputs import Inputs
from gbfix.cli.json_report import json_report
from gbfix.cli.outcome import Outcome
from gbfix.cli.patch import patch_of
from gbfix.cli.report import at_lines_before
from gbfix.cli.run import Request, run
from gbfix.codemods import all_rules
from gbfix.engine.config import Settings
from gbfix.engine.files import SourceText, decode_source
from gbfix.engine.model import SourceError

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("golden/*/*/before.py", "tests/hostile/**/*.py", "examples/*.py")
CHUNK = 20
REFUSALS = (
    "an edit elsewhere in the file would not leave as they are",
    "nested too deeply to be edited",
    "cannot be parsed for editing",
)
"""What may be said of a program: it cannot be edited without damage, and so is left alone."""
LONGEST = 40_000
"""Characters of a text; longer ones take their time and show nothing more."""


@dataclass(frozen=True)
class Tried:
    """What came of one text. changed: whether a fix was made; problem: "" when all is well."""

    text: str
    changed: bool
    problem: str


def main() -> int:
    """Try as many texts as the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--examples", type=int, default=1000, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="K")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--failures", type=Path, default=Path("fuzz_failures"), metavar="FOLDER")
    parser.add_argument("--hypothesmith", type=int, default=0, metavar="N")
    options = parser.parse_args()
    started = time.perf_counter()
    counts: Counter[str] = Counter()
    chunks = [range(at, min(at + CHUNK, options.examples)) for at in range(0, options.examples, CHUNK)]
    with ProcessPoolExecutor(options.jobs) as pool:
        for tried in pool.map(_try_chunk, [options.seed] * len(chunks), chunks):
            _count(tried, counts, options.failures)
    _count(map(tried_text, _from_grammar(options.hypothesmith, options.seed)), counts, options.failures)
    seconds = time.perf_counter() - started
    total = counts["tried"]
    print(
        f"{total} texts in {seconds:.0f} s ({total / max(seconds, 0.001):.1f} per second): "
        f"{counts['python']} were Python, {counts['changed']} were fixed, {counts['failed']} failed"
    )
    return 1 if counts["failed"] else 0


@cache
def seeds() -> tuple[str, ...]:
    """The programs that are changed, in order of their paths."""
    paths = sorted(path for pattern in SOURCES for path in ROOT.glob(pattern))
    return tuple(path.read_bytes().decode() for path in paths)


def example(seed: int, index: int) -> str:
    """The text of one example."""
    return mutated(seeds(), Random(f"{seed} {index}"))


def tried_text(text: str) -> Tried:
    """Look at one text, fix it, and say what is wrong with what came of it."""
    try:
        source = decode_source(Path("program.py"), text.encode("utf-8", "surrogatepass"))
    except SourceError:
        return Tried(text, False, "")
    problem = _scan_problem(source)
    changed = False
    for unsafe in (False, True):
        if problem:
            break
        changed, problem = _apply_problem(source, unsafe=unsafe)
    return Tried(text, changed, problem)


def _scan_problem(source: SourceText) -> str:
    outcome = run(Inputs((source,), ()), Request(all_rules(), edit=False))
    if any(file.changed for file in outcome.files):
        return "scan: changed the text"
    json_report(outcome)
    return _complaint(source.text, outcome, "scan")


def _apply_problem(source: SourceText, *, unsafe: bool) -> tuple[bool, str]:
    """Whether fixes were made, and what is wrong with them."""
    name = "apply --unsafe" if unsafe else "apply"
    request = Request(all_rules(), edit=True, unsafe=unsafe, preferences=preferences_of(Settings()))
    outcome = run(Inputs((source,), ()), request)
    complaint = _complaint(source.text, outcome, name)
    if complaint or not outcome.files:
        return False, complaint
    (file,) = outcome.files
    json_report(at_lines_before(outcome), patch_of(outcome.files))
    if not file.changed:
        return False, f"{name}: a fix is reported and nothing changed" if file.applied else ""
    if not file.applied:
        return True, f"{name}: the text changed and no fix is reported"
    if not is_python(file.after):
        return True, f"{name}: the result is not Python"
    again = SourceText(source.path, file.after, source.encoding, source.bom)
    second = run(Inputs((again,), ()), request)
    complaint = _complaint(file.after, second, f"{name}, again")
    if not complaint and second.files[0].changed:
        codes = sorted({entry.finding.code for entry in second.files[0].applied})
        complaint = f"{name}: a second pass makes more fixes: {', '.join(codes)}"
    return True, complaint


def _complaint(text: str, outcome: Outcome, name: str) -> str:
    """What a run may not say of a text; that it is not Python, it may say of one that is not."""
    for problem in outcome.problems:
        refused = any(words in problem for words in REFUSALS) or not is_python(text)
        if problem.startswith("internal error") or not refused:
            return f"{name}: {problem}"
    return ""


def _try_chunk(seed: int, indices: Sequence[int]) -> list[Tried]:
    return [_tried(example(seed, index)) for index in indices]


def _tried(text: str) -> Tried:
    if len(text) > LONGEST:
        return Tried(text, False, "")
    try:
        return tried_text(text)
    except Exception as error:  # to be reported with its text, like any other failure
        return Tried(text, False, f"raised {type(error).__name__}: {error}")


def _from_grammar(count: int, seed: int) -> Iterator[str]:
    if not count:
        return
    import hypothesis
    import hypothesmith  # type: ignore[import-not-found]

    texts: list[str] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(hypothesmith.from_grammar() | hypothesmith.from_node())
    def collect(text: str) -> None:
        texts.append(text)

    collect()
    yield from texts


def _count(tried: Iterable[Tried], counts: Counter[str], failures: Path) -> None:
    for one in tried:
        counts["tried"] += 1
        counts["python"] += is_python(one.text)
        counts["changed"] += one.changed
        if one.problem:
            counts["failed"] += 1
            failures.mkdir(parents=True, exist_ok=True)
            path = failures / f"{counts['failed']:04}.py"
            path.write_bytes(one.text.encode("utf-8", "surrogatepass"))
            print(f"{path}: {one.problem}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
