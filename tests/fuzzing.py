"""Rewriting a generated program and running both versions, as an equivalence check does, but in this process.

`attempt` gives what gbfix did with a program and what became different. Compared is everything that
`gbfix.equivalence.compare` compares: results, arguments, state, gradients, messages, exceptions, random numbers, modes.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from generated_inputs import DTYPES, SHAPES, VALUES, VARIATIONS, tensor, varied
from generated_observations import observed_lines
from generated_programs import GeneratedProgram
from recompiled import Sizes, recompiles_of

from gbfix.analysis.project import Project, load
from gbfix.analysis.recompiles import RecompileSeen
from gbfix.analysis.source import SourceFile, parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Discharge, Finding, Obligation, Result, Rule
from gbfix.engine.passes import fix_text
from gbfix.equivalence.compare import compare, same_for_compiled
from gbfix.equivalence.in_process import compiling, eagerly
from gbfix.equivalence.model import Difference, Mode, Observation
from gbfix.equivalence.observation import observe_call
from gbfix.evidence.fake import FakeOperations

NAMES = ("x", "y")
FILE = "program.py"
MODULE = "generated_program"
"""The same for both versions: types are shown with it."""


class NoProgramError(Exception):
    """A program that cannot even be loaded, so that there is nothing to compare."""


@dataclass(frozen=True)
class Attempt:
    """What came of one program. `result` is what gbfix did, `differences` what a rewrite changed, by the call."""

    program: GeneratedProgram
    result: Result
    differences: tuple[tuple[int, Difference], ...] = ()
    compiled: bool = False

    @property
    def changed(self) -> bool:
        """True when at least one fix was applied."""
        return self.result.changed

    def told(self) -> str:
        """The differences, for people."""
        lines = [
            f"call {call + 1} ({one.mode.value}): {one.subject}: {one.original} became {one.rewritten}"
            for call, one in self.differences
        ]
        return "\n".join(lines[:5])


def rewritten(program: GeneratedProgram, *, unsafe: bool = False) -> Result:
    """The program after every fix that may be applied. Raises NoProgramError for one that cannot be loaded."""
    project = _project(program)

    def find(current: str) -> Sequence[Finding]:
        file = project.files[FILE]
        view = (project if current == file.text else project.with_file(parse(FILE, current))).view(FILE)
        return [finding for rule in _rules() for finding in rule.find(view)]

    return fix_text(program.text, find, unsafe=unsafe)


@lru_cache(maxsize=4)
def _project(program: GeneratedProgram) -> Project:
    file = parse(FILE, program.text)
    recompiles = _recompiles(program, file)
    if not program.is_observed:
        return load([file], recompiles=recompiles)

    def run() -> None:
        with eagerly():
            _original(program)

    observed = {FILE: observed_lines(program.text, FILE, run)}
    return load([file], observed=observed, fakes=FakeOperations(), recompiles=recompiles)


def _recompiles(program: GeneratedProgram, file: SourceFile) -> Mapping[str, tuple[RecompileSeen, ...]] | None:
    """What the golden case that a program comes from says of recompiles, where its functions are still there."""
    made: dict[str, Any] = {}
    exec(program.setup, made)
    sizes = [Sizes(**one) for one in made.get("RECOMPILED", ())]
    try:
        return recompiles_of(file, *sizes) if sizes else None
    except (StopIteration, ValueError):
        return None


def attempt(program: GeneratedProgram, *, compiled: bool = False, unsafe: bool = False) -> Attempt:
    """Rewrite a program, and compare both versions in eager mode; and compiled where that is asked for.

    Raises NoProgramError where a fix was made in a file that cannot be loaded.
    """
    result = rewritten(program, unsafe=unsafe)
    if not result.changed:
        return Attempt(program, result)
    return Attempt(program, result, differences(program, result.after, compiled=compiled), compiled)


def differences(program: GeneratedProgram, after: str, *, compiled: bool = False) -> tuple[tuple[int, Difference], ...]:
    """What another text of a program does differently, with the number of the call that shows it.

    Raises NoProgramError for a program that cannot be loaded, or that differs from itself: `random.seed(nan)` takes the
    identity of an object.
    """
    found = _found(program, after, compiled)
    if found and _found(program, program.text, compiled):
        raise NoProgramError("it does something else each time")
    return found


def _found(program: GeneratedProgram, after: str, compiled: bool) -> tuple[tuple[int, Difference], ...]:
    with eagerly():
        one = _original(program)
        try:
            eager = [one, _observed(after, program)]
        except _LoadError as error:
            return ((0, Difference("exception", "the file", "can be loaded", str(error), Mode.EAGER)),)
    found = [
        (index, difference)
        for index, (one, other) in enumerate(zip(*eager, strict=True))
        for difference in compare(one, other, Mode.EAGER)
    ]
    if found or not compiled:
        return tuple(found)
    runs = []
    for text in (program.text, after):
        torch._dynamo.reset()
        with compiling("eager"):
            runs.append(_observed(text, program))
    return tuple(
        (index, difference)
        for index, (one, other) in enumerate(zip(*runs, strict=True))
        for difference in same_for_compiled(eager[0][index], one, eager[1][index], other)[0]
    )


def with_more_calls(program: GeneratedProgram) -> GeneratedProgram:
    """The program with many more calls: its own arguments in every variation, or every kind of generated ones."""
    if program.setup:
        own = [call[: call.rindex(", '")] for call in program.calls]
        calls = [f"{call}, {how!r}), {{}})" for call in own for how in VARIATIONS]
    else:
        of_values = [(values, "(2, 3)", "float32", grad) for values in VALUES for grad in (True, False)]
        of_kinds = [("mixed", shape, dtype, True) for shape in SHAPES for dtype in DTYPES]
        kinds = [*of_values, *of_kinds, ("mixed", "()", "float32", False), ("negative", "(0,)", "float32", False)]
        calls = [
            f"((tensor({v!r}, {s}, {d!r}, {g}, seed=1), tensor('mixed', {s}, {d!r}, {g}, seed=2)), {{'n': {i % 4}}})"
            for i, (v, s, d, g) in enumerate(kinds)
        ]
        of_others = [
            ("(2, 3)", "float64"),
            ("(2, 3)", "float16"),
            ("(3,)", "float32"),
            ("()", "float32"),
            ("(2, 3)", "int64"),
        ]
        calls += [
            f"((tensor({v!r}, (2, 3), seed=1), tensor({v!r}, {s}, {d!r}, True, seed=2)), {{'flag': False}})"
            for v in ("positive", "negative")
            for s, d in of_others
        ]
    return replace(program, calls=(*program.calls, *calls))


def apply_checked(program: GeneratedProgram) -> str:
    """The text that `gbfix apply --check` leaves of a program, which runs it in processes of its own."""
    with TemporaryDirectory() as folder:
        file = Path(folder, FILE)
        file.write_text(program.text, newline="")
        command = [sys.executable, "-c", "from gbfix.cli.main import main; main()", "apply", "--check"]
        command += ["--torch", torch.__version__.split("+")[0], file.name]
        subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return file.read_bytes().decode()


@contextlib.contextmanager
def switched_off(claims: frozenset[str]) -> Iterator[None]:
    """In this context these obligations hold, whatever the rules find out: a net with holes."""
    made = Obligation.__init__

    def init(self: Obligation, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        if self.claim in claims:
            object.__setattr__(self, "discharge", Discharge.PROVED)

    Obligation.__init__ = init  # type: ignore[method-assign]
    try:
        yield
    finally:
        Obligation.__init__ = made  # type: ignore[method-assign]


@dataclass
class Tally:
    """How often each rule and each obligation had a say."""

    programs: int = 0
    fixed: int = 0
    compiled: int = 0
    fired: dict[str, int] = field(default_factory=dict)
    """Fixes that were applied, by rule."""
    found: dict[str, int] = field(default_factory=dict)
    """Findings, by rule and safety."""
    decided: dict[str, int] = field(default_factory=dict)
    """Findings that one obligation alone kept from being safe, by its claim and how it was met."""
    met: dict[str, int] = field(default_factory=dict)
    """Obligations, by claim and how they were met."""

    def add(self, one: Attempt) -> None:
        """Count one program."""
        self.programs += 1
        self.fixed += one.changed
        self.compiled += one.compiled and one.changed
        for finding in one.result.applied:
            _add(self.fired, finding.code)
        for finding in one.result.findings:
            _add(self.found, f"{finding.code} {finding.safety.value}")
            for obligation in finding.obligations:
                _add(self.met, f"{obligation.claim}: {obligation.discharge.value}")
            unmet = {
                f"{o.claim}: {o.discharge.value}"
                for o in finding.obligations
                if o.discharge in (Discharge.ASSUMED, Discharge.VIOLATED)
            }
            if len(unmet) == 1:
                _add(self.decided, *unmet)


def _add(counts: dict[str, int], key: str) -> None:
    counts[key] = counts.get(key, 0) + 1


class _LoadError(Exception):
    """The text of a program raises when it is loaded."""


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(all_rules())


def _observed(text: str, program: GeneratedProgram) -> list[Observation]:
    """What each call of a program shows, one after the other on the same objects."""
    module = types.ModuleType(MODULE)
    module.__dict__["__file__"] = FILE
    sys.modules[module.__name__] = module  # Dynamo looks up the globals of decorated functions by module name.
    try:
        torch.manual_seed(0)
        random.seed(0)
        try:
            exec(compile(text, FILE, "exec"), module.__dict__)
        except Exception as error:
            raise _LoadError(f"{type(error).__name__}: {error}") from error
        made: dict[str, Any] = {"tensor": tensor, "varied": varied}
        exec(program.setup, made)
        return [_call(module, program.entry, *eval(call, made)) for call in program.calls]
    finally:
        del sys.modules[module.__name__]


def _original(program: GeneratedProgram) -> list[Observation]:
    try:
        return _observed(program.text, program)
    except _LoadError as error:
        raise NoProgramError(str(error)) from error


def _call(module: types.ModuleType, entry: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Observation:
    owner = module.__dict__.get("model")
    owner = getattr(owner, "_orig_mod", owner)
    owner = owner if isinstance(owner, torch.nn.Module) else None
    if owner is not None:
        owner.zero_grad()
    return observe_call(
        getattr(module, entry),
        args,
        kwargs,
        names=NAMES,
        owner=owner,
        module_globals=module.__dict__,
        descriptors=False,
    )
