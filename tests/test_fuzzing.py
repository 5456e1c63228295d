"""Generated programs do the same after their fixes, and a net with holes is noticed."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from fuzzing import NoProgramError, Tally, attempt, differences
from generated_inputs import VARIATIONS, varied
from generated_programs import GeneratedProgram, programs
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st
from mutated_programs import cases, mutants

from gbfix.engine.model import Safety

ANY = st.one_of(programs(), mutants())
FIXED = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
    print_blob=False,
)
"""The same programs in every run."""

CALLS = (
    "((tensor('positive', (4,), grad=True), tensor('mixed', (4,), seed=2)), {})",
    "((tensor('negative', (4,), grad=True), tensor('mixed', (4,), seed=2)), {})",
)
PROGRAM = """\
import warnings

import torch

SEEN = []


@torch.compile(backend="eager")
def entry(x, y):
    if x.sum() > 0:
        z = x * 2.0
    else:
        z = x + 1.0
    print("seen")
    return z + y
"""


@settings(FIXED, max_examples=60)
@given(ANY)
def test_safe_fixes_keep_generated_programs(program: GeneratedProgram) -> None:
    try:
        one = attempt(program)
    except NoProgramError:
        reject()
    assert not one.differences, one.told()


@settings(FIXED, max_examples=12)
@given(ANY)
def test_safe_fixes_keep_generated_programs_when_compiled(program: GeneratedProgram) -> None:
    try:
        one = attempt(program, compiled=True)
    except NoProgramError:
        reject()
    assert not one.differences, one.told()


@settings(FIXED, max_examples=60)
@given(ANY)
def test_unsafe_fixes_of_generated_programs_say_what_they_assume(program: GeneratedProgram) -> None:
    try:
        one = attempt(program, unsafe=True)
    except NoProgramError:
        reject()
    assert not one.differences or any(finding.safety is Safety.UNSAFE for finding in one.result.applied)


@settings(FIXED, max_examples=200)
@given(ANY)
def test_generated_programs_are_python(program: GeneratedProgram) -> None:
    ast.parse(program.text)
    assert program.calls
    assert f"def {program.entry}" in program.text or f"{program.entry} =" in program.text


@pytest.mark.parametrize(
    ("change", "aspect"),
    [
        (lambda text: text.replace("x * 2.0", "x * 3.0"), "value"),
        (lambda text: text.replace("x + 1.0", "x.detach() + 1.0"), "requires_grad"),
        (lambda text: text.replace('print("seen")', "pass"), "messages"),
        (lambda text: text.replace("return z", "SEEN.append(1); return z"), "type"),
        (lambda text: text.replace("return z", "torch.rand(()); return z"), "random"),
        (lambda text: text.replace("return z", "y.add_(1); return z"), "value"),
        (lambda text: text.replace("if x.sum()", "if x.item()"), "exception"),
        (lambda text: text.replace("SEEN = []", "SEEN = 1 / 0"), "exception"),
        (lambda text: text.replace("return z + y", "return (z + y).double()"), "dtype"),
    ],
    ids=["value", "gradient", "message", "state", "random", "argument", "exception", "load", "dtype"],
)
def test_wrong_rewrite_is_seen(change: Callable[[str], str], aspect: str) -> None:
    program = GeneratedProgram(PROGRAM, CALLS)
    found = differences(program, change(PROGRAM))
    assert aspect in {difference.aspect for _, difference in found}


def test_same_program_is_the_same() -> None:
    program = GeneratedProgram(PROGRAM, CALLS)
    assert differences(program, PROGRAM + "# a comment\n", compiled=True) == ()


def test_program_that_differs_from_itself_is_none() -> None:
    text = PROGRAM.replace("SEEN = []", "import random").replace(
        "    print", "    random.seed(float('nan'))\n    z = z * random.random()\n    print"
    )
    with pytest.raises(NoProgramError, match="each time"):
        differences(GeneratedProgram(text, CALLS), text.replace("x * 2.0", "x * 3.0"))


def test_program_that_cannot_be_loaded_is_none() -> None:
    with pytest.raises(NoProgramError, match="ZeroDivisionError"):
        differences(GeneratedProgram("1 / 0\n", CALLS), "1 / 0  # the same\n")


def test_tally_counts_rules_and_what_decided() -> None:
    tally = Tally()
    tally.add(attempt(GeneratedProgram(PROGRAM, CALLS)))
    assert tally.programs == 1
    assert tally.fixed == 1
    assert tally.fired == {"GBF301": 1}
    assert tally.found["GBF101 unsafe"] == 1


def test_arguments_are_varied_without_touching_the_others() -> None:
    import torch

    before = (torch.ones(2, requires_grad=True), [torch.zeros(2), 3], "text")
    for how in VARIATIONS:
        changed = varied(before, how)
        assert changed[2] == "text"
        assert isinstance(changed[1], list)
        assert changed[1][1] == 3
    assert varied(before, "as it is")[0] is before[0]
    assert bool(torch.isnan(varied((torch.ones(2),), "nan")[0]).any())  # type: ignore[call-overload]


def test_every_golden_case_can_be_changed() -> None:
    assert len(cases()) > 600
