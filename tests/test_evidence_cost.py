from __future__ import annotations

from gbfix.evidence.cost import break_cost, ranked_breaks, ranked_recompiles
from gbfix.evidence.model import Break, Cost, Evidence, Place, Recompile

WARM = Cost(steady=True, hits_per_call=1.0, calls=400)
START_UP = Cost(steady=True, hits_per_call=0.0, calls=400)


def _break(line: int, cost: Cost, *, fragments: int = 1, events: int = 1, skipped_frame: bool = False) -> Break:
    return Break(Place("a.py", line), cost=cost, fragments=fragments, events=events, skipped_frame=skipped_frame)


def _lines(*breaks: Break) -> list[int]:
    return [site.place.line for site in ranked_breaks(Evidence("/", breaks=breaks))]


def test_a_break_in_every_step_ranks_above_ten_that_ran_at_the_start() -> None:
    early = [_break(line, START_UP, fragments=5, events=50, skipped_frame=True) for line in range(1, 11)]
    assert _lines(*early, _break(90, WARM))[0] == 90


def test_hits_over_the_run_times_fragments_decide() -> None:
    often = _break(1, Cost(steady=True, hits_per_call=12.0, calls=10))
    long = _break(2, Cost(steady=True, hits_per_call=1.0, calls=400))
    many = _break(3, Cost(steady=True, hits_per_call=1.0, calls=100), fragments=5)
    assert _lines(often, long, many) == [3, 2, 1]
    assert break_cost(often) == 120.0


def test_a_skipped_frame_has_no_fragments_and_still_a_cost() -> None:
    assert break_cost(_break(1, WARM, fragments=0, skipped_frame=True)) == 400.0


def test_what_is_not_known_stands_between_hot_and_start_up() -> None:
    assert _lines(_break(1, START_UP), _break(2, Cost()), _break(3, WARM)) == [3, 2, 1]


def test_among_equals_skipped_frames_then_events_then_the_place() -> None:
    places = _lines(
        _break(4, Cost()), _break(3, Cost(), events=2), _break(2, Cost(), skipped_frame=True), _break(1, Cost())
    )
    assert places == [2, 3, 1, 4]


def test_the_limit_stands_above_every_other_recompile_then_the_count() -> None:
    def row(line: int, *, count: int = 1, limit_hit: bool = False, cost: Cost = WARM) -> Recompile:
        return Recompile(Place("a.py", line), "guard", count=count, limit_hit=limit_hit, cost=cost)

    rows = (row(1, count=2), row(2, count=30), row(3, limit_hit=True, cost=START_UP), row(4, count=2, cost=START_UP))
    ranked = ranked_recompiles(Evidence("/", recompiles=rows))
    assert [found.place.line for found in ranked] == [3, 2, 1, 4]
