"""Which outcomes of the conditions that a rewrite touches a test reaches: the original, run once more to note them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from pathlib import Path

from gbfix.engine.files import read_source
from gbfix.equivalence.conditions import not_reached
from gbfix.equivalence.model import BranchReached, Condition
from gbfix.equivalence.pytest_process import TestRun


def reached(
    original: Mapping[str, str], rewritten: Mapping[str, str], run: Callable[[Mapping[str, str]], TestRun]
) -> tuple[tuple[BranchReached, ...], str]:
    """How many test items had each outcome, by condition, and what keeps this from being enough, "" when nothing does.

    original, rewritten: texts by absolute path; what only one of them names is read from disk for the other. run: runs
    the test with texts that note outcomes, not called where the rewrite touches no condition. Processes that the test
    starts itself are not measured.
    """
    from gbfix.equivalence import reach  # imports torch

    conditions: list[Condition] = []
    texts = dict(original)
    for path in sorted({*original, *rewritten}):
        before, after = (given.get(path) or read_source(Path(path)).text for given in (original, rewritten))
        found = reach.changed_places(before, after, path)
        if found:
            tree = reach.instrument(ast.parse(before), before, found, len(conditions))
            texts[path] = ast.unparse(tree)
            conditions += found
    if not conditions:
        return (), ""
    measured = run(texts)
    if measured.ended:
        return (), f"which sides are reached was not measured: the test {measured.ended}"
    outcomes = measured.outcomes
    branches = tuple(
        BranchReached(condition, outcomes.get((index, True), 0), outcomes.get((index, False), 0))
        for index, condition in enumerate(conditions)
    )
    return branches, not_reached(branches)
