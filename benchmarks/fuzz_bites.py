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
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fuzzing import NoProgramError, differences, rewritten, switched_off, with_more_calls
from generated_programs import GeneratedProgram, programs
from mutated_programs import mutants

from gbfix.engine.model import Discharge, Finding

MOST_TRIED, MOST_CHANGED = 400, 40
"""Programs that one obligation is switched off for, and rewrites of these that are compared: one that nothing shows
would take most of the time."""


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
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    net = Net(options.compiled)

    @seed(options.seed)
    @settings(
        max_examples=options.examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.one_of(programs(), mutants()))
    def cut_holes(program: GeneratedProgram) -> None:
        net.try_program(program)

    cut_holes()
    bitten = sum(bool(hole.after) for hole in net.holes.values())
    without = sum(not hole.changed and not hole.after for hole in net.holes.values())
    print(f"{net.programs} programs, {len(net.holes)} obligations that decided alone somewhere: {bitten} shown,")
    print(f"{without} without which there is no rewrite, {len(net.holes) - bitten - without} not shown\n")
    print("| obligation | programs until it showed | of those that it decided | what differed |\n|---|---|---|---|")
    for claim, hole in sorted(net.holes.items(), key=lambda item: (item[1].after == 0, item[1].after, item[0])):
        if hole.after:
            print(f"| {claim} | {hole.after} | {hole.decided} | {hole.shown} |")
        else:
            told = f"the same in {hole.changed} rewrites" if hole.changed else "no rewrite without it"
            print(f"| {claim} | not shown | {hole.seen} | {told} |")


if __name__ == "__main__":
    main()
