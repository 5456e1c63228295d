"""Timing both versions in turns, so that what else the machine does hits both.

`stopwatch` is what works in the process of each version.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from typing import Any

from gbfix.equivalence.example import Example
from gbfix.equivalence.model import Bench, Timing
from gbfix.equivalence.stopwatch import BenchRequest, ColdStart, CountKernels, Round, Started
from gbfix.equivalence.subject import Subject

ROUNDS = 15
FEWEST_ROUNDS = 7
SECONDS = 30.0
"""After so long only the fewest rounds are made."""

_CONFIDENCE = 0.95


def bench(original: Subject, rewritten: Subject, example: Example) -> Bench:
    """Cold start and steady state of two versions in compiled mode that have not been called so far.

    Each has a compile cache of its own, empty at first, and one thread on a CPU. Only forward calls are timed.
    Raises CheckError when a call raises, and SubjectEnded.
    """
    versions = (original, rewritten)
    with tempfile.TemporaryDirectory(prefix="gbfix-bench-", ignore_cleanup_errors=True) as folder:
        starts: list[Started] = [
            _ask(version, ColdStart(example, f"{folder}/{number}")) for number, version in enumerate(versions)
        ]
        rounds = _rounds(versions, (starts[0].calls, starts[1].calls))
        kernels = [_ask(version, CountKernels()) for version in versions]  # last: a profiler may slow later calls
    timings = [
        Timing(start.seconds, tuple(row[which] for row in rounds), kernels[which]) for which, start in enumerate(starts)
    ]
    ratio, low, high = ratio_with_spread(timings[0].steady, timings[1].steady)
    return Bench(timings[0], timings[1], ratio, low, high, low <= 1.0 <= high, starts[0].device)


def ratio_with_spread(original: tuple[float, ...], rewritten: tuple[float, ...]) -> tuple[float, float, float]:
    """Rewritten / original of the medians, and between which values it lies with a confidence of 95 %.

    The interval is that of the median of the rounds' own ratios, by its order statistics: it supposes nothing of how
    they are distributed. With fewer than six rounds it is all that was seen.
    """
    ratio = statistics.median(rewritten) / statistics.median(original)
    ratios = sorted(after / before for before, after in zip(original, rewritten, strict=True))
    left_out = _left_out(len(ratios))
    return ratio, min(ratio, ratios[left_out]), max(ratio, ratios[-1 - left_out])


def _left_out(count: int) -> int:
    """How many values at either end can be left out so that the median lies between the others often enough."""
    left_out = 0
    beyond = 2 / 2**count
    while beyond + 2 * math.comb(count, left_out + 1) / 2**count <= 1 - _CONFIDENCE:
        left_out += 1
        beyond += 2 * math.comb(count, left_out) / 2**count
    return left_out


def _rounds(versions: tuple[Subject, Subject], calls: tuple[int, int]) -> list[tuple[float, float]]:
    """Seconds per call of both in each round; they take turns in being the first."""
    until = time.monotonic() + SECONDS
    rows: list[tuple[float, float]] = []
    while len(rows) < FEWEST_ROUNDS or (len(rows) < ROUNDS and time.monotonic() < until):
        row = [0.0, 0.0]
        for which in (0, 1) if len(rows) % 2 == 0 else (1, 0):
            row[which] = _ask(versions[which], Round(calls[which]))
        rows.append((row[0], row[1]))
    return rows


def _ask(version: Subject, request: BenchRequest) -> Any:  # noqa: ANN401
    version.send(request)
    return version.receive()
