"""Cut holes into the safety net, one obligation at a time, and see that generated programs fall through each.

    python benchmarks/fuzz_bites.py --examples 3000 [--seed 0] [--compiled]

For each program of benchmarks/fuzz.py, every obligation that alone keeps a finding from being safe is switched off by
itself: the rules then take it as met, and what they rewrite is compared with the original. Prints for each obligation
after how many programs, and after how many of those in which it decided something, a changed program was found, or
that none was. Where no rewrite exists without the obligation, as for statements that no rule can express, it says so.
With --compiled, both versions are also compiled where they are the same eagerly.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fuzzing import NoProgramError, differences, rewritten, switched_off, with_more_calls
from generated_programs import GeneratedProgram, programs
from mutated_programs import mutants

from gbfix.engine.model import Discharge, Finding

PART = 200
"""Programs in one part."""
MOST_TRIED, MOST_CHANGED = 60, 12
"""Programs of a part that one obligation is switched off for, and rewrites of these that are compared: one that nothing
shows would take most of the time."""


@dataclass
class Hole:
    """One obligation switched off. after, decided: programs until a difference was found; 0 where none was."""

    seen: int = 0
    changed: int = 0
    after: int = 0
    decided: int = 0
    shown: str = ""


class Net:
    """The obligations that decided somewhere, and what their absence did."""

    def __init__(self, compiled: bool) -> None:
        self.programs = 0
        self.holes: dict[str, Hole] = {}
        self._compiled = compiled

    def try_program(self, program: GeneratedProgram) -> None:
        """Switch off every obligation that decided in the program and was not shown to matter so far."""
        self.programs += 1
        try:
            usual = rewritten(program)
        except NoProgramError:
            return
        for claim in sorted(_deciding(usual.findings)):
            hole = self.holes.setdefault(claim, Hole())
            if not hole.after and hole.seen < MOST_TRIED and hole.changed < MOST_CHANGED:
                self._cut(claim, hole, program, usual.after)

    def _cut(self, claim: str, hole: Hole, program: GeneratedProgram, usual: str) -> None:
        hole.seen += 1
        try:
            with switched_off(frozenset({claim})):
                text = rewritten(program).after
        except Exception as error:  # the rules may rely on it for more than the meaning of the program
            hole.after, hole.decided, hole.shown = self.programs, hole.seen, f"the rules fail: {type(error).__name__}"
            return
        if text == usual:
            return
        hole.changed += 1
        try:
            found = differences(with_more_calls(program), text, compiled=self._compiled)
        except NoProgramError:
            return
        if found:
            hole.after, hole.decided, hole.shown = self.programs, hole.seen, found[0][1].aspect


def _deciding(findings: Iterable[Finding]) -> set[str]:
    """The obligations that alone keep a finding from being safe, as far as the rule went on to look."""
    unmet = (Discharge.ASSUMED, Discharge.VIOLATED)
    sets = ({o.claim for o in finding.obligations if o.discharge in unmet} for finding in findings)
    return {claim for claims in sets if len(claims) == 1 for claim in claims}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    parts = [(options.seed * 1_000_003 + part, options.compiled) for part in range(-(-options.examples // PART))]
    holes: dict[str, Hole] = {}
    # A process for each part: PyTorch keeps something of every program that it has seen.
    with get_context("spawn").Pool(options.jobs, maxtasksperchild=1) as pool:
        for number, found in enumerate(pool.imap(_part, parts)):
            for claim, hole in found.items():
                _merge(holes.setdefault(claim, Hole()), hole, number * PART)
            shown = sum(bool(hole.after) for hole in holes.values())
            print(f"{(number + 1) * PART} programs: {shown} of {len(holes)} shown", file=sys.stderr, flush=True)
    _print(holes, len(parts) * PART)


def _part(task: tuple[int, bool]) -> dict[str, Hole]:
    number, compiled = task
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (what programs say, which is compared)
    net = Net(compiled)

    @seed(number)
    @settings(
        max_examples=PART,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.one_of(programs(), mutants()))
    def cut_holes(program: GeneratedProgram) -> None:
        net.try_program(program)

    cut_holes()
    return net.holes


def _merge(known: Hole, more: Hole, programs_before: int) -> None:
    """Add what a later part found; once a hole showed, it counts no further."""
    if known.after:
        return
    if more.after:
        known.after, known.decided = programs_before + more.after, known.seen + more.decided
        known.shown = more.shown
    known.seen += more.seen
    known.changed += more.changed


def _print(holes: Mapping[str, Hole], amount: int) -> None:
    bitten = sum(bool(hole.after) for hole in holes.values())
    without = sum(not hole.changed and not hole.after for hole in holes.values())
    print(f"{amount} programs, {len(holes)} obligations that decided alone somewhere: {bitten} shown,")
    print(f"{without} without which there is no rewrite, {len(holes) - bitten - without} not shown\n")
    print("| obligation | programs until it showed | of those that it decided | what differed |\n|---|---|---|---|")
    for claim, hole in sorted(holes.items(), key=lambda item: (item[1].after == 0, item[1].after, item[0])):
        if hole.after:
            print(f"| {claim} | {hole.after} | {hole.decided} | {hole.shown} |")
        else:
            told = f"the same in {hole.changed} rewrites" if hole.changed else "no rewrite without it"
            print(f"| {claim} | not shown | {hole.seen} | {told} |")


if __name__ == "__main__":
    main()
