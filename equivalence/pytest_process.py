"""One run of a test with one version of the files, in a process of its own, and what it left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gbfix.engine.atomic import Rewrite
from gbfix.engine.files import encode_source, read_source
from gbfix.equivalence.compile_records import limit_hits, skipped_frames
from gbfix.equivalence.model import BreakSite, CheckError, Counts
from gbfix.equivalence.pytest_items import Item, in_every_run, items_of, report_lines
from gbfix.equivalence.pytest_report import REACH, REPORT
from gbfix.evidence.journal import SUFFIX, read_journal
from gbfix.evidence.launch import observed_environment, signal_name
from gbfix.evidence.model import Evidence
from gbfix.evidence.overlay import MANIFEST, no_overlay_reason, overlay_folder, write_overlay
from gbfix.evidence.reader import journal_notes, read_evidence

OPTIONS = ("-p", "gbfix.equivalence.pytest_report", "-p", "no:cacheprovider", "--assert=plain", "--capture=fd", "-q")

_NO_TEST = (4, 5)
"""Exit codes of pytest: it was called wrongly, which a test that is not there is; it collected nothing."""
_OF_SHAPES = frozenset({"size", "rank", "stride", "shape_expression"})


@dataclass(frozen=True)
class TestRun:
    """items: by their ids, in the order in which they ran. ended: how the process ended, if not in order.

    not_collected: what kept files from being collected. unloaded: the replaced files that no process loaded; replaced:
    how many there were. counts: of all that the test compiled. outcomes: in how many items a condition, by its index,
    had an outcome, where that was noted.
    """

    items: dict[str, Item]
    counts: Counts
    backends: tuple[str, ...]
    ended: str = ""
    not_collected: str = ""
    replaced: int = 0
    unloaded: tuple[str, ...] = ()
    torch: str = ""
    outcomes: Mapping[tuple[int, bool], int] = field(default_factory=dict)


def run_test(
    test_id: str, texts: Mapping[str, str], root: Path, scratch: Path, until: float, *, measure: bool = False
) -> TestRun:
    """Run a test from the folder `root` with these texts in place of the files, at most until a monotonic time.

    scratch: a folder for this run, which does not exist. measure: the texts note the outcomes of conditions, for which
    nothing is compiled. Raises CheckError when pytest finds no such test, and when a
    file cannot be replaced.
    """
    journals = scratch / "journals"
    journals.mkdir(parents=True)
    copies = _overlay(texts, scratch)
    report = scratch / "report.jsonl"
    manifest = overlay_folder(scratch) / MANIFEST if copies else None
    environment = observed_environment(os.environ, journals=journals, overlay=manifest, values=False)
    # The folder of tmp_path has the same name in every run, since it may be printed.
    temporary = scratch.parent / "tmp"
    if measure:
        environment |= {REACH: "1", "TORCHDYNAMO_DISABLE": "1"}
    command = [sys.executable, "-m", "pytest", *OPTIONS, f"--basetemp={temporary}", test_id]
    code, said = _run(command, root, {**environment, REPORT: str(report)}, scratch / "output", until)
    lines = report_lines(report)
    not_collected = "\n".join(line["text"] for line in lines if line["kind"] == "collection")
    if code in _NO_TEST and not not_collected:
        raise CheckError(f"pytest finds no such test from {root}: {_last_line(said)}")
    evidence = read_evidence(journal_notes(journals), root=root, command=command)
    loaded = {
        note.get("original")
        for path in journals.glob(f"*{SUFFIX}")
        for note in read_journal(path)
        if note["kind"] == "overlay"
    }
    return TestRun(
        items_of(lines, copies),
        _counts(evidence, copies, root),
        tuple(sorted({entry.backend for entry in evidence.entries if entry.backend})),
        ended=_how_it_ended(code, said, not_collected),
        not_collected=in_every_run(not_collected, copies),
        replaced=len(copies),
        unloaded=tuple(original for original in copies.values() if original not in loaded),
        outcomes=Counter(
            (index, outcome) for line in lines if line["kind"] == "outcomes" for index, outcome in line["outcomes"]
        ),
        torch=next((process.torch for process in evidence.processes if process.torch), ""),
    )


def _overlay(texts: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Copies of those files whose text is not what is on disk; gives the originals by the paths of the copies."""
    rewrites = []
    for name, text in texts.items():
        path = Path(name)
        source = read_source(path)
        before, after = encode_source(source, source.text), encode_source(source, text)
        if before == after:
            continue
        reason = no_overlay_reason(path)
        if reason is not None:
            raise CheckError(f"{path}: {reason}")
        rewrites.append(Rewrite(path, before, after))
    change = write_overlay(scratch, rewrites)
    return {str(copy): str(original) for original, copy in change.copies.items()}


def _run(
    command: Sequence[str], root: Path, environment: Mapping[str, str], output: Path, until: float
) -> tuple[int | None, str]:
    """The exit code, None when the time was up, and the end of what was said."""
    with output.open("wb") as stream:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
    return code, output.read_text(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the run, processes that the test started too."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _how_it_ended(code: int | None, said: str, not_collected: str) -> str:
    """Empty when pytest came to its end, whatever became of the tests."""
    if code is None:
        return "did not end in time"
    if code < 0:
        return f"was killed by {signal_name(-code)}"
    if code in (0, 1) or not_collected:
        return ""
    return f"exited with status {code}: {_last_line(said)}"


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["it says nothing"])[-1]


# -- the evidence --------------------------------------------------------------------------------


def _counts(evidence: Evidence, copies: Mapping[str, str], root: Path) -> Counts:
    """Of everything that the test compiled, over all its calls. Whether one graph would do was not tried."""
    recompiles = [(row.count, row.kind in _OF_SHAPES) for row in evidence.recompiles if not row.limit_hit]
    return Counts(
        graphs=sum(fragment.graph for fragment in evidence.fragments),
        breaks=tuple(
            BreakSite(_original(site.place.file, copies, root), site.place.line, site.gb, site.kind)
            for site in evidence.breaks
        ),
        skipped_frames=skipped_frames(evidence),
        recompiles_values=sum(count for count, of_shapes in recompiles if not of_shapes),
        recompiles_shapes=sum(count for count, of_shapes in recompiles if of_shapes),
        limit_hits=limit_hits(evidence),
        fullgraph_error="not tried: a test says itself how it compiles",
    )


def _original(file: str, copies: Mapping[str, str], root: Path) -> str:
    """The name of a file in the evidence, of a copy's original in its place."""
    original = copies.get(os.path.normpath(os.path.join(root, file)))
    if original is None:
        return file
    path, home = Path(original), Path(os.path.realpath(root))
    return path.relative_to(home).as_posix() if path.is_relative_to(home) else original
