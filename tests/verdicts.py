"""Verdicts of all kinds, for the tests of reports."""

from __future__ import annotations

from gbfix.equivalence.model import (
    Bench,
    BranchReached,
    BreakSite,
    Condition,
    Counterexample,
    Counts,
    Difference,
    Mode,
    Status,
    Timing,
    Verdict,
)

ROOT = "/p"
BEFORE = Counts(
    3,
    (BreakSite("/p/model.py", 12, "GB0170", "Data-dependent branching"),) * 2,
    1,
    1,
    2,
    1,
    False,
    "Data-dependent branching at model.py:12",
)
AFTER = Counts(1, fullgraph=True)
CONDITION = Condition("/p/model.py", 12, 4, "x.sum() > 0")
EQUAL = Verdict(
    "model:step",
    Status.EQUAL,
    "100 examples, 12 of them compiled, both sides reached",
    branches=(BranchReached(CONDITION, 61, 39),),
    original=BEFORE,
    rewritten=AFTER,
    inputs="14 recorded calls",
    fixes=("model.py:12 GBF101",),
    backend="eager",
    device="cpu",
    torch="2.13.0",
    seconds=3.5,
    key="k",
    versions="original: disk; rewritten: 1 pending fix",
)
DIFFERENT = Verdict(
    "model:Net",
    Status.DIFFERENT,
    "value of result differs: 1.0 -> 2.0",
    Counterexample(
        "x=float32[2] [nan, 1.0]",
        "import torch\n",
        (
            Difference("value", "result", "[1.0]", "[2.0]", ulp=8388608),
            Difference("dtype", "gradient of x", "float32", "float64", Mode.COMPILED),
        ),
    ),
    backend="eager",
    device="cpu",
    baseline="result: dtype, eager float32, compiled float64",
)
NOT_REACHED = Verdict(
    "model:f",
    Status.NOT_TESTED,
    "side not reached: line 12, `x.sum() > 0` was never false",
    branches=(BranchReached(CONDITION, 100, 0),),
)
UNLOADABLE = Verdict("model:f.<locals>.g", Status.NOT_TESTED, "it is made in a function")
CLOSE = Verdict("model:g", Status.CLOSE, "100 examples, largest error 3 ULP", largest_ulp=3, earlier=True)
TIMED = Bench(Timing(1.5, (0.002, 0.004, 0.003), 7), Timing(0.25, (0.0015,), 3), 0.5, 0.45, 0.6, False)
