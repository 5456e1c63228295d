from __future__ import annotations

from gbfix.evidence.model import Cost
from gbfix.evidence.records import CompiledFrame, Records, Run, Window
from gbfix.evidence.steady import Share, cost, once_per_call, share


def process(index: int, calls: dict[int, int], *windows: Window, rank: int | None = None) -> Records:
    return Records(index, {"rank": rank}, totals=calls, windows=list(windows))


def frame(entry: int | None, *runs: Run) -> CompiledFrame:
    return CompiledFrame("0/0", entry=entry, runs=list(runs))


def test_hits_per_call_are_those_of_the_calls_counted() -> None:
    first, second = Window({1: 3}), Window({1: 1})
    records = process(0, {1: 100}, first, second)
    fragment = frame(1, Run(first, 6, 0.3), Run(second, 2, 0.1))
    assert cost([share(records, [fragment])]) == Cost(True, 2.0, 100, 0.1)


def test_without_a_counted_call_nothing_is_known() -> None:
    assert cost([share(process(0, {1: 100}), [frame(1)])]) == Cost()
    assert cost([]) == Cost()


def test_a_fragment_that_a_warm_program_misses_has_no_hits() -> None:
    window = Window({1: 3})
    assert cost([share(process(0, {1: 100}, window), [frame(1)])]) == Cost(True, 0.0, 100, 0.0)


def test_entries_add_up() -> None:
    one, two = Window({1: 2}), Window({2: 1})
    records = process(0, {1: 10, 2: 30}, one, two)
    fragment = frame(1, Run(one, 2, 0.0), Run(two, 2, 0.0))  # entry 2 reuses what entry 1 compiled
    assert cost([share(records, [fragment])]) == Cost(True, (10 + 60) / 40, 40, 0.0)


def test_calls_of_an_entry_count_once_for_several_fragments() -> None:
    window = Window({1: 1})
    records = process(0, {1: 10}, window)
    shares = [share(records, [frame(1, Run(window, 1, 0.0))]) for _ in range(2)]
    assert cost(shares) == Cost(True, 2.0, 10, 0.0)


def test_ranks_are_averaged_and_other_processes_add_up() -> None:
    def shares(*ranks: int | None) -> list[Share]:
        window = Window({1: 1})
        return [
            share(process(index, {1: 10}, window, rank=rank), [frame(1, Run(window, 2, 0.0))])
            for index, rank in enumerate(ranks)
        ]

    assert cost(shares(0, 1, 2)) == Cost(True, 2.0, 10, 0.0)
    assert cost(shares(None, None, None)) == Cost(True, 2.0, 30, 0.0)


def test_a_frame_that_runs_in_python_counts_once_for_each_call() -> None:
    window = Window({1: 3})
    assert cost([once_per_call(process(0, {1: 100}, window), [frame(1)])]) == Cost(True, 1.0, 100, 0.0)
