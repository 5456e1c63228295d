"""Programs made to break the promise of safe fixes: each is built around one hazard, which its path names.

`hostile/<what suffers>/<hazard>.py` holds a function `f` to compile, where needed a `main` that calls it, and
`inputs()`. A fix that needs no `--unsafe` must leave everything as it was. One that needs it may change what it says
that it assumes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
import torch
from programs import load_inputs, run

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Discharge, Finding, Result
from gbfix.engine.passes import fix_text

FOLDER = Path(__file__).parent / "hostile"
PROGRAMS = {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in sorted(FOLDER.glob("*/*.py"))}

SAFE_BUT_DIFFERENT: dict[str, list[str]] = {}
"""Programs that a safe fix changes, under the reason: the promise is broken there, until someone repairs it."""

UNSAFE_AND_UNNAMED: dict[str, list[str]] = {}
"""Programs that an unsafe fix changes in a way which it does not say, under the reason."""

NOTHING_FOUND = {"conditions/comparison_with_none"}
"""Programs in which no condition is taken as one on a tensor."""

COMPILED = [
    "aliases/returned_pair_shares_one_local",
    "conditions/number_is_not_a_number",
    "dtypes/tensor_without_dimensions_on_either_side",
    "liveness/break_comes_before_the_next_assignment",
    "liveness/global_is_set_before_a_return",
    "order/return_inside_a_loop",
]
"""Some of those that are rewritten: to compile is slow."""

NAMES = {
    "dtype": ("dtype",),
    "shape": ("shape",),
    "strides": ("strides",),
    "identity": ("identity",),
    "requires_grad": ("gradient",),
    "gradient": ("gradient", "derivative"),
    "exception": ("fail", "raise", "evaluated", "error", "tensors", "is a tensor", "one element", "have the same"),
    "warning": ("warn",),
    "output": ("print", "hooks"),
    "random numbers": ("random", "hooks"),
    "value": ("number", "identity", "hooks", "element"),
}
"""What an assumption must speak of when this kind of thing changes: one of the words."""

OBSERVED = '''

def observed(*arguments):
    """The result, and which parts of it and of the arguments are the same object."""
    result = globals().get("main", f)(*arguments)
    tensors = list(_tensors([result, arguments]))
    return result, [[first is second for first in tensors] for second in tensors]


def _tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _tensors(part)


ENTRY = "observed"
GRAD = True
'''


@pytest.fixture(autouse=True)
def _every_warning() -> Iterator[None]:
    """PyTorch gives some warnings once per process, and then only the first program would show them."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@cache
def findings(text: str) -> tuple[Finding, ...]:
    view = load([parse("program.py", text)]).view("program.py")
    return tuple(finding for rule in all_rules() for finding in rule.find(view))


def observe(text: str, folder: Path, *, compiled: bool = False) -> list[Any]:
    folder.mkdir(exist_ok=True)
    for name in ("inputs.py", "program.py"):
        (folder / name).write_text(text + OBSERVED)
    return run(folder / "program.py", load_inputs(folder), compiled=compiled).observations


def marked(*known: dict[str, list[str]]) -> list[Any]:
    """All programs; those with a known reason are expected to fail, and to be taken off the list when they do not."""
    reasons = {name: reason for failures in known for reason, names in failures.items() for name in names}
    marks = {name: [pytest.mark.xfail(strict=True, reason=reason)] for name, reason in reasons.items()}
    return [pytest.param(name, marks=marks.get(name, [])) for name in PROGRAMS]


def test_every_listed_program_exists() -> None:
    known = {
        name for failures in (SAFE_BUT_DIFFERENT, UNSAFE_AND_UNNAMED) for names in failures.values() for name in names
    }
    assert known | NOTHING_FOUND | {*COMPILED} <= {*PROGRAMS}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_looked_at(name: str) -> None:
    """A program in which nothing is found attacks nothing."""
    assert bool(findings(PROGRAMS[name].read_text())) == (name not in NOTHING_FOUND)


@pytest.mark.parametrize("name", marked(SAFE_BUT_DIFFERENT))
def test_safe_fixes_change_nothing(name: str, tmp_path: Path) -> None:
    text = PROGRAMS[name].read_text()
    result = fix_text(text, findings)
    if result.changed:
        assert observe(result.after, tmp_path / "after") == observe(text, tmp_path / "before")


@pytest.mark.parametrize("name", COMPILED)
def test_safe_fixes_change_nothing_when_compiled(name: str, tmp_path: Path) -> None:
    text = PROGRAMS[name].read_text()
    result = fix_text(text, findings)
    assert result.changed
    before, after = (observe(t, tmp_path / str(i), compiled=True) for i, t in enumerate((text, result.after)))
    assert after == before


@pytest.mark.parametrize("name", marked(SAFE_BUT_DIFFERENT, UNSAFE_AND_UNNAMED))
def test_unsafe_fixes_name_what_they_change(name: str, tmp_path: Path) -> None:
    text = PROGRAMS[name].read_text()
    result = fix_text(text, findings, unsafe=True)
    if result.changed:
        changed = changes(observe(text, tmp_path / "before"), observe(result.after, tmp_path / "after"))
        said = assumptions(result)
        assert not {kind for kind in changed if not any(word in said for word in NAMES[kind])}, said


def assumptions(result: Result) -> str:
    obligations = [obligation for finding in result.applied for obligation in finding.obligations]
    return "\n".join(f"{o.claim}: {o.reason}" for o in obligations if o.discharge is Discharge.ASSUMED)


# -- what differs ------------------------------------------------------------------------------


def changes(before: list[Any], after: list[Any]) -> set[str]:
    """The kinds of differences between two series of calls, as `NAMES` calls them."""
    assert len(before) == len(after)
    return {kind for one, other in zip(before, after, strict=True) for kind in _changes_of_a_call(one, other)}


def _changes_of_a_call(before: Any, after: Any) -> set[str]:
    outcome, printed, records, warned, arguments, gradients, generator = zip(before, after, strict=True)
    kinds = {"warning"} if warned[0] != warned[1] else set()
    if any(kind == "raised" for kind, *_ in outcome):
        return kinds | ({"exception"} if outcome[0] != outcome[1] else set())
    kinds |= _changes_of_values(outcome) | _changes_of_values(arguments)
    if printed[0] != printed[1] or records[0] != records[1]:
        kinds.add("output")
    if generator[0] != generator[1]:
        kinds.add("random numbers")
    if gradients[0] != gradients[1] and not kinds & {"dtype", "shape", "value"}:
        kinds.add("gradient")
    return kinds


def _changes_of_values(values: tuple[Any, Any]) -> set[str]:
    """What follows from another dtype or shape, such as other bits, is not counted again."""
    if values[0] == values[1]:
        return set()
    kinds = set()
    for one, other in zip_longest(_tensors(values[0]), _tensors(values[1])):
        if one is None or other is None:
            return {"value"}
        _, dtype, shape, strides, requires_grad, bits, same = zip(one, other, strict=True)
        layout = {"dtype": dtype, "shape": shape}
        found = {kind for kind, (first, second) in layout.items() if first != second}
        if not found:
            rest = {"strides": strides, "value": bits}
            found = {kind for kind, (first, second) in rest.items() if first != second}
        rest = {"requires_grad": requires_grad, "identity": same}
        kinds |= found | {kind for kind, (first, second) in rest.items() if first != second}
    return kinds or {"identity"}


def _tensors(description: Any) -> Iterator[Any]:
    """The tensors of what `programs.describe` gives, in order."""
    if isinstance(description, tuple) and description[:1] == ("tensor",):
        yield description
    elif isinstance(description, tuple | list):
        for part in description:
            yield from _tensors(part)
