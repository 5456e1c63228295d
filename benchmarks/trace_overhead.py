"""Measure what `gbfix trace` costs a program: a small training loop without it, with it, and with observed values.

    python benchmarks/trace_overhead.py [--rounds N] [--steps N] [--backend NAME]

Each round runs the loop three times, one after the other in turns, so that what else the machine does meets all alike:

- plain: without gbfix
- trace: as under `gbfix trace --no-values`
- values: as under `gbfix trace`

Figures are processor seconds of the program itself. Printed are, for each phase of it (start: imports; compile: the
first 20 steps; steady: the steps after), the ratios to the plain run of the same round, as their median over the rounds
with the smallest and the largest. Exits 1 when the steady phase costs more than a tenth.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gbfix.evidence.journal import read_journal
from gbfix.evidence.launch import observed_environment

LOOP = Path(__file__).with_name("trace_overhead_loop.py")
PHASES = ("start", "compile", "steady")
OBSERVED = ("trace", "values")
BOUND = 1.10

NOTES = {
    "plain": set[str](),
    "trace": {"entry", "call", "calls", "trace", "window", "end"},
    "values": {"entry", "call", "calls", "trace", "window", "end", "observation"},
}
"""Kinds of notes that a run in a mode leaves, so that the benchmark cannot measure a run that was not observed."""

Seconds = Mapping[str, float]
"""By phase."""


def main() -> int:
    """Run the rounds and print the ratios."""
    parser = argparse.ArgumentParser(description="Measure what gbfix trace costs a small training loop.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=320)
    parser.add_argument("--backend", default="eager")
    options = parser.parse_args()
    command = [sys.executable, str(LOOP), "--steps", str(options.steps), "--backend", options.backend]
    rounds = []
    for number in range(options.rounds):
        seconds = {mode: run(command, mode) for mode in turn(("plain", *OBSERVED), number)}
        rounds.append(seconds)
        print(f"round {number + 1}: {describe(seconds)}", flush=True)
    medians = {mode: report(mode, rounds) for mode in OBSERVED}
    return 0 if max(median["steady"] for median in medians.values()) <= BOUND else 1


def run(command: list[str], mode: str) -> Seconds:
    """Run the loop once in a mode."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if mode != "plain":
            environment = observed_environment(os.environ, journals=Path(folder), values=mode == "values")
        ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        kinds = {note["kind"] for journal in Path(folder).iterdir() for note in read_journal(journal)}
    if missing := NOTES[mode] - kinds:
        raise SystemExit(f"nothing was measured: the notes of a run in mode {mode!r} have no {sorted(missing)}")
    seconds: Seconds = json.loads(ended.stdout)
    return seconds


def turn(modes: tuple[str, ...], number: int) -> tuple[str, ...]:
    """The modes, beginning with another one in each round: the first run of a round may find the machine colder."""
    first = number % len(modes)
    return modes[first:] + modes[:first]


def ratios(mode: str, phase: str, rounds: list[dict[str, Seconds]]) -> list[float]:
    """What a phase cost in a mode, in each round, as a ratio to the plain run."""
    return [seconds[mode][phase] / seconds["plain"][phase] for seconds in rounds]


def report(mode: str, rounds: list[dict[str, Seconds]]) -> Seconds:
    """Print the ratios of a mode; the medians by phase."""
    found = {phase: ratios(mode, phase, rounds) for phase in PHASES}
    for phase, each in found.items():
        print(f"{mode:6} {phase:7} {statistics.median(each):.3f}  ({min(each):.3f} to {max(each):.3f})")
    return {phase: statistics.median(each) for phase, each in found.items()}


def describe(seconds: Mapping[str, Seconds]) -> str:
    """The seconds of one round in a line."""
    modes = sorted(seconds, key=["plain", *OBSERVED].index)
    return "; ".join(
        f"{mode} " + ", ".join(f"{phase} {seconds[mode][phase]:.2f} s" for phase in PHASES) for mode in modes
    )


if __name__ == "__main__":
    sys.exit(main())
