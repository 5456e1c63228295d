"""Evidence made by hand, of the programs in `files`, for the tests of the report."""

from __future__ import annotations

from pathlib import Path

from cli_project import REFUSED, SAFE, UNSAFE

from gbfix.cli.evidence_report import report_of
from gbfix.cli.evidence_rows import EvidenceReport
from gbfix.codemods import all_rules
from gbfix.evidence.model import Break, Cost, Entry, Evidence, Place, Process, Recompile
from gbfix.evidence.store import find_evidence

CALLS = """import notes, torch


@torch.compile
def g(x: torch.Tensor):
    y = x * 2.0
    notes.show("halfway")
    return y + 1.0
"""

FILES = {"safe.py": SAFE, "unsafe.py": UNSAFE, "refused.py": REFUSED, "calls.py": CALLS}
"""Each has its break in line 7."""

STEADY = Cost(steady=True, hits_per_call=2.0, calls=400, seconds_per_call=0.0015)


def branch(file: str, cost: Cost = STEADY) -> Break:
    """The break of one of the files with a branch."""
    place = Place(file, 7, "f", 4, 7, 17)
    return Break(
        place, gb="GB0170", kind="Data-dependent branching", source="    if x.sum() > 0:", entries=("f",), cost=cost
    )


def call_of_builtin(cost: Cost = STEADY) -> Break:
    """The break of calls.py."""
    place = Place("calls.py", 7, "g", 4, 7, 20)
    return Break(
        place,
        gb="GB0059",
        kind="Failed to trace builtin operator",
        source='    notes.show("halfway")',
        entries=("g",),
        cost=cost,
    )


def sizes(**changes: object) -> Recompile:
    """A recompile of f for another size of x."""
    facts: dict[str, object] = {
        "place": Place("safe.py", 6, "f"),
        "guard": "tensor 'x' size mismatch at index 0. expected 4, actual 6",
        "kind": "size",
        "source_name": "x",
        "values": ("4", "6"),
        "entries": ("f",),
        "source": "def f(x: torch.Tensor):",
    }
    return Recompile(**{**facts, **changes})  # type: ignore[arg-type]


def evidence(root: Path, **changes: object) -> Evidence:
    """Evidence with the entries f and g; what it showed is given by the name of the field."""
    facts: dict[str, object] = {
        "root": str(root),
        "command": ("python", "train.py"),
        "exit_status": 0,
        "processes": (Process(7, torch="2.13.0", complete=True),),
        "entries": (Entry("f", dynamic="None"), Entry("g", dynamic="None")),
    }
    return Evidence(**{**facts, **changes})  # type: ignore[arg-type]


def report(root: Path, **changes: object) -> EvidenceReport:
    """The report of such evidence, with the files written below the root."""
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    return report_of(evidence(root, **changes), all_rules(), find_evidence(root))
