"""Show that the checks raise no false alarm: every right rewrite in golden/, with many examples each.

    python benchmarks/golden_check.py [--examples N] [--workers N] [--json FILE] [CASE ...]

CASE is a part of the name of cases ("tensor_value_ternary", "tensor_value_branch/if_else"). The original is before.py,
the rewritten version after.py, and the recorded calls are those of inputs.py.

A difference in a safe case is a false alarm. A case whose name begins with `unsafe_` was rewritten on an assumption,
and inputs may be found for which it does not hold; those with a difference.txt are known to differ, and the check
should find it. Exits 1 on a false alarm, or when a case with a difference.txt is found equal.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from gbfix.engine.checked import STAYS_ASSUMED
from gbfix.equivalence.model import Job, Settings, Status, Target, Verdict
from gbfix.evidence.describe import describe
from gbfix.evidence.model import ArgumentsSeen

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
SECONDS = 300.0
"""For one case."""
UNKNOWN_ARGUMENT = "nothing tells how to make the argument"


@dataclass(frozen=True)
class Case:
    """A golden case. kind: "safe", "unsafe", or "different" where a difference.txt says so."""

    name: str
    kind: str
    folder: Path


def main() -> int:
    """Check the cases that the command line asks for, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the verdicts to this file")
    options = parser.parse_args()
    cases = golden_cases(options.cases)
    started = time.monotonic()
    verdicts = {}
    for case, verdict in check_all(cases, Settings(examples=options.examples, seconds=SECONDS), options.workers):
        verdicts[case] = verdict
        print(row(case, verdict), flush=True)
    print(summary(verdicts, time.monotonic() - started))
    if options.json:
        content = {case.name: msgspec.to_builtins(verdict) for case, verdict in verdicts.items()}
        options.json.write_text(json.dumps(content, indent=1))
    return 1 if failures(verdicts) else 0


def golden_cases(words: Sequence[str] = ()) -> list[Case]:
    """The cases with an after.py whose name contains one of the words."""
    cases = []
    for after in sorted(GOLDEN.glob("*/*/after.py")):
        folder = after.parent
        name = f"{folder.parent.name}/{folder.name}"
        if words and not any(word in name for word in words):
            continue
        kind = "unsafe" if folder.name.startswith("unsafe_") else "safe"
        cases.append(Case(name, "different" if _shows(folder / "difference.txt") else kind, folder))
    return cases


def _shows(difference: Path) -> bool:
    """A difference is known, and of a kind that checks compare."""
    return difference.exists() and not set(difference.read_text().splitlines()) <= STAYS_ASSUMED.keys()


def check_all(cases: Sequence[Case], settings: Settings, workers: int) -> Iterator[tuple[Case, Verdict]]:
    """The verdict of each case, in the order in which they end."""
    # Started afresh, since the checks fork: what this process has imported or started must not get into them.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        running = {pool.submit(check_case, case, settings): case for case in cases}
        for done in as_completed(running):
            yield running[done], done.result()


def check_case(case: Case, settings: Settings) -> Verdict:
    """Check one case in this process."""
    from gbfix.equivalence.check import check

    with tempfile.TemporaryDirectory(prefix="gbfix-golden-") as name:
        scratch = Path(name).resolve()
        job = job_of(case, scratch, settings)
        verdict = check(job)
        if not verdict.reason.startswith(UNKNOWN_ARGUMENT):
            return verdict
        # Such as an array of numpy: only the calls of inputs.py themselves.
        (scratch / "golden_inputs.py").write_bytes((case.folder / "inputs.py").read_bytes())
        return check(replace(job, inputs="golden_inputs:inputs"))


def job_of(case: Case, scratch: Path, settings: Settings) -> Job:
    """The job of a case, whose two versions are both the module `program` in the folder `scratch`."""
    inputs = _imported(case.folder / "inputs.py")
    before, after = ((case.folder / name).read_bytes().decode() for name in ("before.py", "after.py"))
    file = scratch / "program.py"
    file.write_text(before)
    target = Target(case.name, str(file), "program", str(scratch), inputs.ENTRY)
    names = _parameters(before, inputs.ENTRY)
    seen = {msgspec.json.encode(each): each for each in (_seen(names, call) for call in inputs.inputs())}
    return Job(target, {str(file): before}, {str(file): after}, tuple(seen.values()), settings=settings)


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("golden_inputs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _parameters(text: str, entry: str) -> list[str]:
    """Of a function, or of what is called or compiled to make the entry: a lambda, or a class with a `forward`."""
    tree = ast.parse(text)
    defined = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    if entry in defined:
        return _names(defined[entry].args)
    made = (node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == entry)
    for node in ast.walk(next(made)):
        if isinstance(node, ast.Lambda):
            return _names(node.args)
    return _names(defined["forward"].args)[1:]


def _names(arguments: ast.arguments) -> list[str]:
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args)]


def _seen(names: Sequence[str], call: Sequence[Any]) -> ArgumentsSeen:
    """As the recorder notes a call: by the name of the parameter, or by position for what has none."""
    named = [*names, *(f"args[{index}]" for index in range(len(call)))]
    facts = {name: describe(value) for name, value in zip(named, call, strict=False)}
    return msgspec.convert({"values": facts}, ArgumentsSeen)


def row(case: Case, verdict: Verdict) -> str:
    """One line of the table."""
    sides = "".join("-" if branch.missing else "+" for branch in verdict.branches)
    counts = "graphs ?"
    if verdict.original and verdict.rewritten:
        counts = f"graphs {verdict.original.graphs} -> {verdict.rewritten.graphs}"
    known = "" if case.kind == "safe" else f"  [{case.kind}]"
    examples = f"{verdict.exercised.examples} examples, {verdict.exercised.compiled} compiled"
    parts = (examples, f"sides {sides}" if sides else "no sides", counts, f"{verdict.seconds:.1f} s", verdict.reason)
    return f"{verdict.status.value:10}  {case.name}{known}  {'; '.join(parts)}"


def summary(verdicts: dict[Case, Verdict], seconds: float) -> str:
    """The totals, and the cases that need a look."""
    lines = [""]
    for kind in ("safe", "unsafe", "different"):
        counts = Counter(verdict.status.value for case, verdict in verdicts.items() if case.kind == kind)
        told = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
        lines.append(f"{kind:10}  {sum(counts.values())} cases: {told or 'none'}")
    examples = sum(verdict.exercised.examples for verdict in verdicts.values())
    compiled = sum(verdict.exercised.compiled for verdict in verdicts.values())
    lines.append(f"{examples} examples, {compiled} of them compiled, too; {seconds:.0f} s")
    wrong = failures(verdicts)
    lines.append(f"false alarms or missed differences: {len(wrong)}")
    lines += [f"  {case.name}: {verdicts[case].reason}" for case in wrong]
    return "\n".join(lines)


def failures(verdicts: dict[Case, Verdict]) -> list[Case]:
    """The false alarms, and the known differences that were not found."""
    wrong = {"safe": Status.DIFFERENT, "different": Status.EQUAL}
    return [case for case, verdict in verdicts.items() if verdict.status is wrong.get(case.kind)]


if __name__ == "__main__":
    sys.exit(main())
