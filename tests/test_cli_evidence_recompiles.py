"""What was compiled again in a recorded run, brought to the rules."""

from __future__ import annotations

from evidence_runs import run

from gbfix.analysis.project import load
from gbfix.analysis.recompiles import Line, function_at
from gbfix.analysis.source import parse
from gbfix.cli.evidence_recompiles import recompiles_by_file
from gbfix.evidence.model import Entry, Evidence, Fragment, Place, Recompile

SOURCE = """\
import torch


@torch.compile
def f(x):
    return x * 2


@torch.compile
def g(x):
    return x * 3
"""
AT = Place("a.py", 4, "f")
EVIDENCE = Evidence(
    "/",
    entries=(
        Entry("f", AT, Place("main.py", 9), dynamic="False", calls=7),
        Entry("g", Place("a.py", 9, "g"), Place("a.py", 9), calls=1),
    ),
    fragments=tuple(Fragment(f"0/{number}", AT, process) for process, number in ((1, 0), (1, 1), (1, 2), (2, 0))),
    recompiles=(
        Recompile(AT, "x", "size", "x", ("4", "6"), owner=AT, entries=("f",), dimension=0),
        Recompile(Place("other.py", 1, "h"), "x"),
    ),
)


def test_what_rules_read() -> None:
    found = recompiles_by_file(EVIDENCE, {"a.py": "src/a.py"})
    assert found.keys() == {"src/a.py"}
    (seen,) = found["src/a.py"]
    assert (seen.at, seen.function, seen.dimension, seen.values) == (Line("src/a.py", 4), "f", 0, ("4", "6"))
    assert seen.compiles == 3
    (entry,) = seen.entries
    assert (entry.dynamic, entry.compiled_at, entry.calls) == (False, Line("main.py", 9), 7)


def test_they_follow_their_functions_through_an_edit() -> None:
    names = {"a.py": "a.py"}
    project = load([parse("a.py", SOURCE)], recompiles=recompiles_by_file(EVIDENCE, names))
    edited = project.with_file(parse("a.py", "import math\n" + SOURCE.replace("x * 2", "x * 2 + 0")))
    (seen,) = edited.recompiles["a.py"]
    assert seen.at == Line("a.py", 5)
    assert seen.entries[0].defined == Line("a.py", 5)
    function = function_at(edited.files["a.py"], seen.at.line, seen.function)
    assert function is not None
    assert function.qualname == "f"
    gone = project.with_file(parse("a.py", SOURCE.replace("def f", "def e")))
    assert gone.recompiles["a.py"] == ()


def test_a_real_run() -> None:
    evidence = run("evidence_recompiling.py").evidence()
    file = next(row.place.file for row in evidence.recompiles)
    found = recompiles_by_file(evidence, {file: "program.py"})["program.py"]
    sizes = next(seen for seen in found if seen.function == "sizes")
    assert (sizes.kind, sizes.source_name, sizes.dimension, sizes.compiles) == ("size", "x", 0, 2)
    shapes = [spec.tensor.shape for seen in sizes.entries[0].arguments if (spec := seen["x"]).tensor]
    assert shapes == [(4,), (5,), (6,)]
