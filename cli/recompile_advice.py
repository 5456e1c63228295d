"""What to do about a recompile: the cause and remedies of its kind, narrowed by what the run showed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gbfix.cli.evidence_advice import Remedy, of_finding
from gbfix.cli.evidence_findings import Findings
from gbfix.cli.evidence_places import is_pytorch
from gbfix.evidence.model import Entry, Evidence, Recompile
from gbfix.evidence.recompile_kinds import RECOMPILE_KINDS

_DIMENSION = re.compile(r"mismatch at index (\d+)")
_INTEGER = re.compile(r"-?\d+")
_NUMBERS = ("int", "float")
_TEXT = re.compile(r"['\"]")
_MORE = ("gbfix explain recompiles",)
_MARKS = ("gbfix apply --check", *_MORE)
"""For sizes: GBF401 puts the marks where the function is called."""
_STACK = "___stack"
"""How Dynamo names what it keeps over a break; no name of the program."""
_EITHER_WAY = "Nothing has to be done"
"""How a way out begins that is none: whether it holds is decided here, from the run."""


def recompile_remedy(evidence: Evidence, row: Recompile) -> Remedy:
    """What helps against one recompile, or that nothing needs to be done."""
    if is_pytorch(evidence, row.place):
        return _of_wrapper(row)
    kind = RECOMPILE_KINDS.get(row.kind, RECOMPILE_KINDS["other"])
    entries = _entries(evidence, row)
    broken_at = _broken_at(evidence, row)
    if broken_at is not None:
        action = "nothing" if row.count == 1 and not row.limit_hit else "advice"
        return Remedy(action, f"it follows from the graph break in line {broken_at} and goes when that goes")
    reason = None if row.limit_hit else _why_settled(row, entries)
    if reason:
        return Remedy("nothing", reason)
    step = _first_step(row, entries)
    if step:
        return Remedy("advice", step, (kind.cause,), commands=_MARKS if "mark_dynamic" in step else _MORE)
    ways_out = [way for way in kind.ways_out if not way.startswith(_EITHER_WAY)]
    return Remedy("advice", ways_out[0], (kind.cause, kind.price), tuple(ways_out[1:]), _MORE)


def remedy_with_fix(evidence: Evidence, findings: Findings, options: Sequence[str], row: Recompile) -> Remedy:
    """What helps against one recompile: the fix of a rule before advice."""
    remedy = recompile_remedy(evidence, row)
    found = None if remedy.settled else findings.of_recompile(row)
    return remedy if found is None else of_finding(evidence, options, *found)


def _of_wrapper(row: Recompile) -> Remedy:
    """Dynamo enters a function under torch.no_grad() or the like through a wrapper that all such functions share."""
    if row.limit_hit:
        return Remedy(
            "advice",
            f"PyTorch's own {row.place.function} is entered by several compiled functions, which count together: put "
            "decorators such as torch.no_grad() above torch.compile instead of below it",
        )
    return Remedy("nothing", "PyTorch's own code, which several compiled functions are entered through")


def _why_settled(row: Recompile, entries: tuple[Entry, ...]) -> str | None:
    """Why nothing needs to be done; None where that is not known."""
    name = "a value kept over a graph break" if row.source_name.startswith(_STACK) else row.source_name or "a tensor"
    if row.kind == "size" and row.count == 1 and entries and not _static(entries):
        if row.values and row.values[-1] in ("0", "1"):
            return f"PyTorch always compiles size {row.values[-1]} (of {name}) for itself, once"
        return f"a second size of {name} was seen; that compilation made it dynamic, and later sizes are free"
    if row.kind == "shape_expression" and row.count == 1:
        return "a comparison of sizes had its other outcome; each outcome is compiled once and kept"
    if row.kind == "requires_grad" and row.count == 1:
        return f"{name} with and without gradients: one compilation for each, and both are kept"
    if row.kind == "global_state" and row.count == 1:
        return "a setting such as train() or grad mode changed; each combination is compiled once and kept"
    if row.kind == "value" and _values_seen(row, entries) > row.count + 1:
        return f"a second value of {name} was seen; that compilation serves all later values"
    return None


def _first_step(row: Recompile, entries: tuple[Entry, ...]) -> str | None:
    """What to do first, with the names of the row put in; None where the kind's own advice says all there is."""
    steps = {"size": _size_step, "value": _value_step, "identity": _identity_step, "global_state": _state_step}
    step = steps.get(row.kind)
    return step(row, entries) if step else None


def _size_step(row: Recompile, entries: tuple[Entry, ...]) -> str | None:
    if not row.source_name:
        return None
    if row.source_name.startswith(_STACK):
        return "it follows from the graph break in this function: mend that first, then trace again"
    found = _DIMENSION.search(row.guard)
    dimension = found.group(1) if found else "dim"
    mark = f"torch._dynamo.mark_dynamic({row.source_name}, {dimension})"
    if not entries and row.count == 1:
        return (
            f"nothing, if it is compiled without dynamic=False: that compilation then made the size dynamic; otherwise "
            f"leave dynamic=False out, or call {mark} before the first call"
        )
    if _static(entries):
        return (
            "it is compiled with dynamic=False, which compiles every size for itself: leave that out (the second size "
            f"then makes it dynamic), or call {mark} before the first call"
        )
    return f"call {mark} before the first call: it is then compiled once for all sizes but 0 and 1"


def _value_step(row: Recompile, entries: tuple[Entry, ...]) -> str | None:
    name = row.source_name
    if _is_global(row, entries):
        return f"hand the global {name} to the function as an argument, as a 0-d tensor when it changes often"
    if row.values and all(_TEXT.match(value) for value in row.values):
        return (
            f"{name} is a text, and each text is compiled for itself: keep it the same, or choose by it in the caller"
        )
    if "." in name and row.values and all(_INTEGER.fullmatch(value) for value in row.values):
        attribute = name.rpartition(".")[2]
        return (
            f"where {name} is a number that a module changes, make it a buffer: "
            f'register_buffer("{attribute}", torch.tensor(0), persistent=False)'
        )
    return None


def _identity_step(row: Recompile, _entries: tuple[Entry, ...]) -> str | None:
    if "__code__" in row.guard:
        name = row.source_name.partition(".__code__")[0] or "the function"
        return f"{name} is made anew for every call: make it once, at module level or in __init__"
    return None


def _broken_at(evidence: Evidence, row: Recompile) -> int | None:
    """The line of the break that left the guarded number to Python; None for any other row."""
    if row.kind != "value":
        return None
    same = [fragment for fragment in evidence.fragments if fragment.place == row.place]
    resumes = {fragment.resumes for fragment in same}
    if len(resumes) != 1 or None in resumes:
        return None
    return resumes.pop()


def _is_global(row: Recompile, entries: tuple[Entry, ...]) -> bool:
    """True for a name that is no argument of the function compiled again, whose calls were recorded."""
    arguments = {
        name
        for entry in entries
        if entry.defined is not None and (entry.defined.file, entry.defined.line) == (row.place.file, row.place.line)
        for seen in entry.arguments
        for name in seen.values
    }
    return bool(arguments) and row.source_name.isidentifier() and row.source_name not in arguments


def _state_step(_row: Recompile, _entries: tuple[Entry, ...]) -> str | None:
    return "keep grad mode, autocast, train() or eval() and the default dtype the same from call to call"


def _static(entries: tuple[Entry, ...]) -> bool:
    return any(entry.dynamic == "False" for entry in entries)


def _values_seen(row: Recompile, entries: tuple[Entry, ...]) -> int:
    """How many values of a plain number as argument the recorded calls had; 0 for anything else.

    Only the guard on a number is dropped at the second value; texts and booleans are compared again and again.
    """
    seen = {
        arguments.values[row.source_name]
        for entry in entries
        for arguments in entry.arguments
        if row.source_name in arguments.values
    }
    return len({spec.value for spec in seen}) if all(spec.kind in _NUMBERS for spec in seen) else 0


def _entries(evidence: Evidence, row: Recompile) -> tuple[Entry, ...]:
    return tuple(entry for entry in evidence.entries if entry.function in row.entries)
