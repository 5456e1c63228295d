"""Checking a rewrite by a test of the project: run with the original and with the rewritten files, and compared.

Each run is a pytest of its own, recorded as `gbfix trace` does, with the texts loaded in place of the files
(see `evidence.overlay`), also in processes that the test starts. Asserts are not rewritten by pytest, so that files of
tests can be replaced, too. What is compared: which test items there are, how each ended, what it raised, printed,
logged and warned of. The test decides what is called, on which device, and with which backend.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gbfix.equivalence.model import Counterexample, Difference, Exercised, Settings, Status, Verdict
from gbfix.equivalence.pytest_items import Item
from gbfix.equivalence.pytest_process import OPTIONS, TestRun, run_test
from gbfix.equivalence.pytest_reach import reached

_GOOD = frozenset({"passed", "skipped", "xfailed"})
_NO_ITEM = Item("not run")

Run = Callable[[str], TestRun]
"""Runs the test with the files of one side, "original" or "rewritten"."""


def check_test(
    test_id: str, original: Mapping[str, str], rewritten: Mapping[str, str], settings: Settings, root: Path
) -> Verdict:
    """Run a test, named as for pytest from the folder `root`, with both versions.

    original, rewritten: texts of files by absolute real path; all other files are as on disk. "equal" only when the
    same test items passed in both runs. A test that does not pass with the original, or that loads none of the files,
    tests nothing. What differs is run once more with both, so that what changes from run to run is not blamed on the
    rewrite. Of conditions that the rewrite touches both sides have to be reached; for this the test is run once more,
    without compiling anything. Of the settings only `seconds` counts, for all runs together. Raises CheckError when
    pytest finds no such test, and GbfixError when a file cannot be replaced.
    """
    started = time.monotonic()
    texts = {"original": original, "rewritten": rewritten}
    with TemporaryDirectory(prefix="gbfix-test-", ignore_cleanup_errors=True) as scratch:
        until = started + settings.seconds
        numbers = itertools.count()

        def run(side: str) -> TestRun:
            return run_test(test_id, texts[side], root, Path(scratch, f"{next(numbers)}"), until)

        def measure(noting: Mapping[str, str]) -> TestRun:
            return run_test(test_id, noting, root, Path(scratch, "outcomes"), until, measure=True)

        verdict = _verdict(test_id, run, settings)
        if verdict.status is Status.EQUAL:
            branches, missing = reached(original, rewritten, measure)
            verdict = replace(verdict, branches=branches)
            if missing:
                verdict = replace(verdict, status=Status.NOT_TESTED, reason=missing)
    return replace(verdict, seconds=round(time.monotonic() - started, 2))


def _verdict(test_id: str, run: Run, settings: Settings) -> Verdict:
    before = run("original")
    after = before
    unusable = _unusable(before)
    if unusable:
        verdict = Verdict(test_id, Status.NOT_TESTED, unusable)
    else:
        after = run("rewritten")
        verdict = _compared(test_id, before, after, run)
    outcomes = [item.outcome for item in before.items.values()]
    return replace(
        verdict,
        exercised=Exercised(examples=len(outcomes), returned=outcomes.count("passed")),
        original=before.counts,
        rewritten=None if after is before else after.counts,
        inputs="the test",
        backend=", ".join(before.backends),
        device=settings.device,
        torch=before.torch,
    )


def _unusable(run: TestRun) -> str:
    """Why a run with the original says nothing about the rewrite, empty when it does."""
    if run.not_collected:
        return f"the test cannot be loaded with the original: {_end_of(run.not_collected)}"
    if run.ended:
        return f"the test fails on the original already: it {run.ended}"
    for name, item in run.items.items():
        if item.outcome not in _GOOD:
            return f"the test fails on the original already: {name}: {_how(item)}"
    if not any(item.outcome == "passed" for item in run.items.values()):
        name, item = next(iter(run.items.items()))
        return f"no test passes, all are skipped or expected to fail: {name}: {_how(item)}"
    return ""


def _compared(test_id: str, before: TestRun, after: TestRun, run: Run) -> Verdict:
    replaced = before.replaced + after.replaced
    unloaded = (*before.unloaded, *after.unloaded)
    if replaced and len(unloaded) == replaced:
        files = ", ".join(sorted({Path(file).name for file in unloaded}))
        return Verdict(test_id, Status.NOT_TESTED, f"the test never loads {files}")
    differences = tuple(_differences(before, after))
    unsteady: tuple[Difference, ...] = ()
    if differences:
        again = {(each.aspect, each.where) for each in _differences(before, run("original"))}
        again |= {(each.aspect, each.where) for each in _differences(after, run("rewritten"))}
        unsteady = tuple(each for each in differences if (each.aspect, each.where) in again)
        differences = tuple(each for each in differences if each not in unsteady)
    if differences:
        return _different(test_id, differences)
    outcomes = [each.where for each in unsteady if each.aspect != "messages"]
    if outcomes:
        return Verdict(test_id, Status.NOT_TESTED, f"the test does not end in the same way each time: {outcomes[0]}")
    return Verdict(test_id, Status.EQUAL, _reason(before, after, unsteady, unloaded))


def _reason(before: TestRun, after: TestRun, unsteady: Sequence[Difference], unloaded: Sequence[str]) -> str:
    passed = sum(item.outcome == "passed" for item in before.items.values())
    parts = [f"{passed} {'test passes' if passed == 1 else 'tests pass'} with both versions"]
    if not before.counts.graphs + after.counts.graphs + len(before.counts.breaks):
        parts.append("nothing was compiled in it")
    if unloaded:
        parts.append(f"never loaded: {', '.join(sorted({Path(file).name for file in unloaded}))}")
    if unsteady:
        parts.append(f"not compared, since it changes from run to run: {', '.join(each.where for each in unsteady)}")
    return "; ".join(parts)


def _different(test_id: str, differences: tuple[Difference, ...]) -> Verdict:
    first = differences[0]
    reason = f"{first.where}: {_short(first.original)} with the original, {_short(first.rewritten)} with the rewrite"
    example = Counterexample(test_id, _program(test_id, differences), differences)
    return Verdict(test_id, Status.DIFFERENT, reason, counterexample=example)


def _differences(before: TestRun, after: TestRun) -> Iterator[Difference]:
    if bool(before.not_collected) != bool(after.not_collected):
        one, other = (_end_of(run.not_collected) if run.not_collected else "is collected" for run in (before, after))
        yield Difference("exception", "the test", one, other)
        return
    for name in dict.fromkeys((*before.items, *after.items)):
        first, second = before.items.get(name, _NO_ITEM), after.items.get(name, _NO_ITEM)
        if (first.outcome, first.raised, first.text) != (second.outcome, second.raised, second.text):
            ended = second.outcome == "ended"
            how = f"{_how(second)}: {after.ended}" if ended else _how(second)
            yield Difference("ended" if ended else "exception", name, _how(first), how)
            continue
        for stream in sorted({*first.said, *second.said}):
            texts = first.said.get(stream, ""), second.said.get(stream, "")
            if texts[0] != texts[1]:
                yield Difference("messages", f"{stream} of {name}", *texts)
    if before.ended != after.ended and all(item.outcome != "ended" for item in after.items.values()):
        yield Difference("ended", "the run", before.ended or "ended in order", after.ended or "ended in order")


def _how(item: Item) -> str:
    told = f"{item.raised}: {item.text}".strip(": ") if item.raised else ""
    return f"{item.outcome} ({_short(told)})" if told else item.outcome


def _program(test_id: str, differences: Sequence[Difference]) -> str:
    """A script that runs the test by itself; which version that is, is a matter of the files."""
    told = [f"#   {_short(each.where)}: {_short(each.original)} -> {_short(each.rewritten)}" for each in differences]
    lines = [
        "# Passes with the original files, and differs with the rewritten ones. In the folder of the project, run it",
        "# as it is, and with the rewrite in an overlay: gbfix apply --overlay FILE; gbfix run -- THIS_SCRIPT",
        *told,
        "import subprocess",
        "import sys",
        "",
        f"options = {list(OPTIONS[2:])!r}",
        f'sys.exit(subprocess.call([sys.executable, "-m", "pytest", *options, {test_id!r}]))',
    ]
    return "\n".join(lines) + "\n"


def _end_of(text: str) -> str:
    """The last line that says something: of a traceback, the exception."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    return _short((errors or lines or ["it says nothing"])[-1])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:157] + "..."
