"""What gbfix does about each of many small functions that break a graph: docs/coverage.md is this table.

    python benchmarks/coverage.py SNIPPETS.py [--output docs/coverage.md] [--only NAME ...] [--keep FOLDER]

SNIPPETS.py holds functions under `@case(arguments, ...)`: each argument of the decorator is the tuple of arguments of
one call, or a function that makes one; `config`, `dynamic` and `name` are keywords. The functions are put into a file
of their own, run once under `gbfix trace`, and rewritten by `gbfix apply`, and by `gbfix apply --unsafe` in a second
copy. Each version is called eagerly and compiled, and everything that can be observed is compared with the original.

Exits 1 when a rewritten snippet differs, or when a snippet that breaks is neither fixed nor explained.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from coverage_worker import Seen

from gbfix.equivalence.compare import compare, same_for_compiled
from gbfix.equivalence.model import Mode
from gbfix.evidence.model import Break, Evidence
from gbfix.evidence.registry import explain_id
from gbfix.evidence.store import load_evidence

HERE = Path(__file__).resolve().parent
SUPPORT = ("from _harness",)
"""Imports that only the file's own way of running needs."""
IDENTITY = "identity and strides do not matter"
INTENDED = {
    "GB0098": "a function under torch.compiler.disable",
    "GB0025": "torch._dynamo.graph_break()",
}
"""PyTorch's ids for what the author put there: annotated already, and no finding."""
_CALLS = """\
from collections import namedtuple

from snippets import *
from snippets import _all_names

globals().update(_all_names())
Call = namedtuple("Call", "name function arguments config dynamic")
CALLS = []


def case(function, *arguments, config=None, name=None, dynamic=None):
    made = arguments or ((torch.ones(4),),)
    CALLS.append(Call(name or function.__name__, function, made, config or {}, dynamic))


"""
_DRIVER = """\
import contextlib
import copy
import io
import warnings

import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)
from calls import CALLS

for call in CALLS:
    with torch._dynamo.config.patch(**call.config), contextlib.redirect_stdout(io.StringIO()):
        compiled = torch.compile(call.function, backend="eager", dynamic=call.dynamic)
        for arguments in call.arguments:
            with contextlib.suppress(Exception):
                compiled(*(arguments() if callable(arguments) else copy.deepcopy(arguments)))
"""


@dataclass(frozen=True)
class Snippet:
    """A function that breaks. lines: of it and the functions and classes that it names in the same file."""

    name: str
    function: str
    lines: frozenset[int]
    functions: frozenset[str]


@dataclass(frozen=True)
class Row:
    """What became of one. outcome: fixed, fixed with --unsafe, annotated, refused, explained or nothing."""

    snippet: str
    ids: str
    outcome: str
    rules: str
    figures: str
    note: str
    wrong: str = ""


def main() -> int:
    """Run everything and write the table."""
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        root = options.keep or Path(scratch)
        root.mkdir(exist_ok=True)
        original = root / "original"
        snippets = _split(options.snippets, original, options.only)
        _gbfix(original, "trace", "--", sys.executable, "drive.py")
        evidence = load_evidence(original / ".gbfix" / "evidence.json")
        reports = {
            name: _rewritten(original, root / name, unsafe)
            for name, unsafe in (("safe", ()), ("unsafe", ("--unsafe",)))
        }
        seen = {name: _seen(root / name) for name in ("original", "safe", "unsafe")}
    rows = [_row(snippet, evidence, reports, seen) for snippet in snippets]
    broken = [row for row in rows if row is not None]
    text = _table(broken)
    if options.output:
        options.output.write_text(text)
    print(text)
    bad = [row.snippet for row in broken if row.wrong or row.outcome == "nothing"]
    print("bad:", ", ".join(bad) or "none", file=sys.stderr)
    return 1 if bad else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snippets", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--keep", type=Path, help="leave the work in this folder")
    return parser.parse_args()


def _split(file: Path, folder: Path, only: Sequence[str]) -> list[Snippet]:
    """Write `snippets.py` with the plain functions, `calls.py` with their calls and `drive.py`; give the snippets."""
    folder.mkdir(parents=True, exist_ok=True)
    text = file.read_text()
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    calls = []
    for node in tree.body:
        cases = [d for d in getattr(node, "decorator_list", []) if ast.unparse(d).startswith("case(")]
        if isinstance(node, ast.FunctionDef) and cases:
            _blank(lines, cases[0].lineno, cases[0].end_lineno or 0)
            arguments = [node.name, *map(ast.unparse, cases[0].args)]
            arguments += [f"{k.arg}={ast.unparse(k.value)}" for k in cases[0].keywords]
            if not only or node.name in only:
                calls.append(f"case({', '.join(arguments)})\n")
        elif _only_runs(node):
            _blank(lines, node.lineno - len(getattr(node, "decorator_list", [])), node.end_lineno or 0)
    snippets = "".join(lines) + "\n\ndef _all_names():\n    return globals()\n"
    (folder / "snippets.py").write_text(snippets)
    (folder / "calls.py").write_text(_CALLS + "".join(calls))
    (folder / "drive.py").write_text(_DRIVER)
    tree = ast.parse(snippets)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    functions |= {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    names = [call.partition("(")[2].partition(",")[0].rstrip(")\n") for call in calls]
    wanted = [
        ast.literal_eval(call.partition("name=")[2].partition(",")[0].rstrip(")\n")) if "name=" in call else name
        for call, name in zip(calls, names, strict=True)
    ]
    return [_snippet(name, function, functions) for name, function in zip(wanted, names, strict=True)]


def _blank(lines: list[str], first: int, last: int) -> None:
    for number in range(first, last + 1):
        lines[number - 1] = "\n"


def _only_runs(node: ast.stmt) -> bool:
    """What the file needs to run itself: its list of cases, its decorator, its main function."""
    source = ast.unparse(node)
    own = isinstance(node, ast.FunctionDef) and node.name in ("case", "main")
    return own or source.startswith((*SUPPORT, "CASES", "if __name__"))


def _snippet(name: str, function: str, functions: dict[str, ast.FunctionDef | ast.ClassDef]) -> Snippet:
    reached, waiting = set(), {function}
    while waiting:
        reached |= waiting
        mentioned = {n.id for f in waiting for n in ast.walk(functions[f]) if isinstance(n, ast.Name)}
        waiting = {each for each in mentioned if each in functions} - reached
    lines = {line for f in reached for line in range(functions[f].lineno, (functions[f].end_lineno or 0) + 1)}
    return Snippet(name, function, frozenset(lines), frozenset(reached))


def _gbfix(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-c", "from gbfix.cli.main import main; main()", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def _rewritten(original: Path, folder: Path, options: Sequence[str]) -> dict[str, Any]:
    """Rewrite the file where the run was recorded, copy the result into a folder, put the file back; the report."""
    file = original / "snippets.py"
    text = file.read_text()
    report = json.loads(_gbfix(original, "apply", file.name, "--output-format", "json", *options))
    shutil.copytree(original, folder)
    file.write_text(text)
    return next((each for each in report["files"] if each["path"] == file.name), {"applied": [], "findings": []})


def _seen(folder: Path) -> dict[str, Seen]:
    found = {}
    for mode in ("eager", "compiled"):
        out = folder / f"{mode}.pickle"
        command = [sys.executable, str(HERE / "coverage_worker.py"), str(folder), mode, str(out)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed\n{done.stderr[-2000:]}")
        found[mode] = pickle.loads(out.read_bytes())
    return found


def _row(
    snippet: Snippet, evidence: Evidence, reports: dict[str, dict[str, Any]], seen: dict[str, dict[str, Seen]]
) -> Row | None:
    breaks = [b for b in evidence.breaks if _own(snippet, b)]
    before = seen["original"]["compiled"][snippet.name]
    if not breaks and not before[2]:
        return None
    ids = " ".join(dict.fromkeys(b.gb or b.kind for b in breaks))
    for version, outcome in (("safe", "fixed"), ("unsafe", "fixed with --unsafe")):
        applied = [f for f in reports[version]["applied"] if _in(snippet, f)]
        if applied:
            after = seen[version]["compiled"][snippet.name]
            rules = " ".join(dict.fromkeys(f["code"] for f in applied))
            figures = f"{before[1]} → {after[1]} graphs, {before[2]} → {after[2]} sites"
            claims = dict.fromkeys(o["claim"] for f in applied for o in f["obligations"] if o["discharge"] == "assumed")
            wrong = _difference(snippet, seen["original"], seen[version])
            notes = [f"assumes: {claim}" for claim in claims]
            if wrong and IDENTITY in claims and wrong.partition(":")[0].split()[1] in ("identity", "strides"):
                notes.append(f"differs as assumed: {wrong}")
                wrong = ""
            elif wrong:
                notes.insert(0, f"**differs: {wrong}**")
            if after[1:] == before[1:]:
                notes.insert(0, "**as many graphs and sites as before**")
            note = "; ".join(notes)
            if "torch.compiler.disable" in "".join(r["source"] for f in applied for r in f["fix"]["replacements"]):
                outcome = "annotated" if version == "safe" else "annotated with --unsafe"
            return Row(snippet.name, ids, outcome, rules, figures, note, wrong)
    refused = [f for f in reports["safe"]["findings"] if _in(snippet, f)]
    if refused:
        first = refused[0]
        failed = next((o for o in first["obligations"] if o["discharge"] == "violated"), None)
        why = f"{failed['claim']}: {failed['reason']}" if failed else first["message"]
        return Row(snippet.name, ids, "refused", first["code"], "", f"{why}. Way out: {first['advice']}")
    if ids in INTENDED:
        return Row(snippet.name, ids, "annotated", "", "", f"{INTENDED[ids]} is there on purpose, and stays")
    ways = [way for b in breaks for way in _ways(b)]
    return Row(snippet.name, ids, "explained" if ways else "nothing", "", "", ways[0] if ways else "")


def _own(snippet: Snippet, found: Break) -> bool:
    places = [found.place, *([found.project] if found.project else []), *found.stack]
    return any(p.file.endswith("snippets.py") and p.line in snippet.lines for p in places)


def _in(snippet: Snippet, finding: dict[str, Any]) -> bool:
    return bool(snippet.functions & {*finding["function"].partition(".<locals>")[0].split(".")})


def _ways(found: Break) -> Iterator[str]:
    explanation = explain_id(found.gb or found.kind)
    yield from explanation.ways_out if explanation else ()


def _difference(snippet: Snippet, original: dict[str, Seen], rewritten: dict[str, Seen]) -> str:
    """In which the versions differ, in words; empty when in nothing."""
    eager, compiled = (original[mode][snippet.name][0] for mode in ("eager", "compiled"))
    new_eager, new_compiled = (rewritten[mode][snippet.name][0] for mode in ("eager", "compiled"))
    for old, new, old_compiled, new_compiled_ in zip(eager, new_eager, compiled, new_compiled, strict=True):
        found = compare(old, new, Mode.EAGER) or same_for_compiled(old, old_compiled, new, new_compiled_)[0]
        if found:
            return f"{found[0].mode.value} {found[0].subject}: {found[0].original} -> {found[0].rewritten}"
    return ""


def _table(rows: Sequence[Row]) -> str:
    counted = {
        outcome: sum(row.outcome == outcome for row in rows) for outcome in dict.fromkeys(r.outcome for r in rows)
    }
    totals = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counted.items()))
    wrong = sum(bool(row.wrong) for row in rows)
    head = [
        "# What gbfix does about small functions that break a graph",
        "",
        "Made by `benchmarks/coverage.py`, which runs each function under `gbfix trace`, rewrites it, and compares",
        "everything that can be observed, eagerly and compiled. PyTorch "
        f"{torch.__version__.partition('+')[0]}, with a backend that runs each graph as it is.",
        "",
        f"{len(rows)} functions break: {totals}; {wrong} of the rewritten ones differ in a way that is not assumed.",
        "",
        "| function | PyTorch's id | outcome | rules | graphs and sites | what is assumed, or why not and what to do |",
        "|---|---|---|---|---|---|",
    ]
    cells = [(r.snippet, r.ids, r.outcome, r.rules, r.figures, r.note) for r in rows]
    return "\n".join([*head, *("| " + " | ".join(_cell(c) for c in row) + " |" for row in cells)]) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
