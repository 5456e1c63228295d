from __future__ import annotations

import pytest

from gbfix.cli.fix_figures import figures_of, worse
from gbfix.evidence.fragments import NOTHING_TO_COMPILE
from gbfix.evidence.model import Break, Cost, Evidence, Fragment, Place, Recompile


def evidence(
    *graphs: str,
    breaks: int = 0,
    python: tuple[str, ...] = (),
    recompiles: int = 0,
    limit: bool = False,
    complete: bool = True,
) -> Evidence:
    """graphs: the functions that gave a graph; python: those that run in Python."""
    compiled = tuple(Fragment("0/0", Place("a.py", 1, name), 1, graph=True) for name in graphs)
    skipped = tuple(Fragment("1/0", Place("a.py", 9, name), 1, skipped="GB7000") for name in python)
    empty = Fragment("2/0", Place("a.py", 20, "empty"), 1, skipped=NOTHING_TO_COMPILE)
    cost = Cost(steady=True, hits_per_call=0.5, calls=4)
    sites = tuple(Break(Place("a.py", line), "GB0170", cost=cost) for line in range(breaks))
    again = Recompile(Place("a.py", 1, "f"), "x == 1", count=recompiles, limit_hit=limit)
    return Evidence(
        "/",
        complete=complete,
        fragments=(*compiled, *skipped, empty),
        breaks=sites,
        recompiles=(again,) if recompiles or limit else (),
    )


def test_figures_count_what_a_run_showed() -> None:
    found = figures_of(evidence("f", "f", breaks=2, python=("g", "g"), recompiles=3, limit=True))
    assert (found.graphs, found.sites, found.kinds, found.hits) == (2, 2, ("GB0170",), 1.0)
    assert (found.in_python, found.recompiles, found.limit_hits) == (1, 3, 1)


def test_a_function_that_is_given_up_counts_once_however_many_guards_failed() -> None:
    rows = [Recompile(Place("a.py", line, "f"), "g", source_name=name, limit_hit=hit) for line, name, hit in _ROWS]
    assert figures_of(Evidence("/", recompiles=tuple(rows))).limit_hits == 2


_ROWS = ((1, "x", True), (1, "y", True), (7, "x", True), (9, "x", False))


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (evidence("f"), ""),
        (evidence("f", breaks=1), ""),
        (evidence("f", "f", "f", breaks=2), "there are 2 break sites instead of 1"),
        (evidence("f", breaks=1, python=("h",)), "1 functions are left to Python instead of 0"),
        (evidence("f", recompiles=2), "there are 2 recompiles instead of 1"),
        (evidence("f", recompiles=1, limit=True), "PyTorch gives up on a function after too many recompiles"),
        (evidence("f", complete=False), "the program no longer ends in order"),
    ],
)
def test_a_run_is_worse_in_one_of_these_ways(after: Evidence, told: str) -> None:
    assert worse(evidence("f", "f", breaks=1, recompiles=1), after) == told


def test_a_function_that_is_compiled_at_last_may_show_the_next_break_and_be_compiled_again() -> None:
    before = evidence(breaks=1, python=("f",))
    assert worse(before, evidence("f", breaks=2, recompiles=1)) == ""
    assert worse(before, evidence("f", breaks=2, recompiles=2)) == "there are 2 recompiles instead of 0"
