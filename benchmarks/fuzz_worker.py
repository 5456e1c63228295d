"""One part of benchmarks/fuzz.py: so many programs from one seed, and a file with what came of them.

python benchmarks/fuzz_worker.py SEED PART PROGRAMS COMPILED_EVERY CHECKED_EVERY FILE FAILURES
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
import warnings
from pathlib import Path

import torch
from hypothesis import HealthCheck, Phase, given, reject, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fuzzing import Attempt, NoProgramError, Tally, apply_checked, attempt, differences
from generated_programs import GeneratedProgram, programs
from mutated_programs import mutants

from gbfix.codemods import all_rules
from gbfix.engine.model import Safety

_ASSUMED_IN_A_PART = 40
"""About so many programs of one part change as an assumption says: less than `--checked-every`."""


class DifferentError(AssertionError):
    """A rewrite changed a program."""


class Part:
    """Tries programs, and counts."""

    def __init__(self, number: int, compiled_every: int, checked_every: int) -> None:
        self.tally = Tally()
        self._before = number * _ASSUMED_IN_A_PART
        self.safe = self.unsafe = self.assumed = self.checked = self.let_through = 0
        self.last: Attempt | None = None
        self._compiled_every, self._checked_every = compiled_every, checked_every
        self.shrinking = False

    def try_program(self, program: GeneratedProgram) -> None:
        """Make every fix and compare; where an unsafe one shows, the safe ones alone. Raises DifferentError."""
        turn = self.tally.fixed % self._compiled_every == 0 or self.shrinking
        every = attempt(program, unsafe=True, compiled=turn)
        has_unsafe = any(finding.safety is Safety.UNSAFE for finding in every.result.applied)
        if not self.shrinking:
            self.tally.add(every)
            self.unsafe += has_unsafe
            self.safe += every.changed and not has_unsafe
        if not every.differences:
            return
        if has_unsafe:
            safe = attempt(program, compiled=turn)
            if not safe.differences:
                self._look_at_assumptions(every)
                return
            every = safe
        self._fail(every)

    def _look_at_assumptions(self, every: Attempt) -> None:
        self.last = every
        self.assumed += 1
        if (self._before + self.assumed) % self._checked_every and not self.shrinking:
            return
        self.checked += 1
        text = apply_checked(every.program)
        if text == every.program.text:
            return
        self.let_through += 1
        found = differences(every.program, text)
        if found:
            self._fail(
                dataclasses.replace(every, result=dataclasses.replace(every.result, after=text), differences=found)
            )

    def _fail(self, one: Attempt) -> None:
        self.last = one
        self.shrinking = True
        codes = " ".join(sorted({finding.code for finding in one.result.applied}))
        raise DifferentError(f"{codes}: {one.told()}")


def main() -> None:
    """Run one part and write its file."""
    number, part_number, amount, compiled_every, checked_every = map(int, sys.argv[1:6])
    file, failures = Path(sys.argv[6]), Path(sys.argv[7])
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (what programs say, which is compared)
    started, part, told = time.monotonic(), Part(part_number, compiled_every, checked_every), []

    @seed(number * 1_000_003 + part_number)
    @settings(
        max_examples=amount,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(st.one_of(programs(), mutants()))
    def property_holds(program: GeneratedProgram) -> None:
        try:
            part.try_program(program)
        except NoProgramError:
            reject()

    try:
        property_holds()
    except DifferentError as error:
        told.append(str(error))
        failures.mkdir(parents=True, exist_ok=True)
        assert part.last is not None
        _write(failures / f"seed{number}-part{part_number}.txt", part.last)
    record = {
        **{name: getattr(part, name) for name in ("safe", "unsafe", "assumed", "checked", "let_through")},
        **dataclasses.asdict(part.tally),
        "rules": [rule.code for rule in all_rules() if rule.rewrites],
        "failures": told,
        "seconds": time.monotonic() - started,
    }
    scratch = file.with_suffix(f".{os.getpid()}.tmp")
    scratch.write_text(json.dumps(record))
    scratch.replace(file)


def _write(file: Path, one: Attempt) -> None:
    pieces = [one.program.text, one.result.after, one.program.setup, "\n".join(one.program.calls), one.told()]
    file.write_text("\n# ----\n".join(pieces), newline="")


if __name__ == "__main__":
    main()
