from __future__ import annotations

import sys
import threading

import pytest

from gbfix.engine.deep import with_deep_stack


def depth(levels: int) -> int:
    return 0 if levels == 0 else 1 + depth(levels - 1)


def test_work_may_recurse_far_beyond_the_default_limit() -> None:
    with pytest.raises(RecursionError):
        depth(20_000)
    assert with_deep_stack(lambda: depth(20_000)) == 20_000


def test_exceptions_arrive_and_the_limit_is_put_back() -> None:
    before = sys.getrecursionlimit()

    def work() -> None:
        assert sys.getrecursionlimit() > before
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        with_deep_stack(work)
    assert sys.getrecursionlimit() == before


def test_exit_requests_arrive_too() -> None:
    with pytest.raises(SystemExit):
        with_deep_stack(lambda: sys.exit(3))


def test_nested_calls_stay_in_the_deep_thread() -> None:
    assert with_deep_stack(lambda: with_deep_stack(threading.get_ident) == threading.get_ident())


def test_calls_from_several_threads_put_the_limit_back_when_the_last_one_ends() -> None:
    before = sys.getrecursionlimit()
    first_runs, release_first = threading.Event(), threading.Event()
    results: list[int] = []

    def first() -> None:
        first_runs.set()
        release_first.wait(10)
        results.append(depth(5_000))

    thread = threading.Thread(target=lambda: with_deep_stack(first))
    thread.start()
    first_runs.wait(10)
    results.append(with_deep_stack(lambda: depth(5_000)))
    assert sys.getrecursionlimit() > before
    release_first.set()
    thread.join()
    assert results == [5_000, 5_000]
    assert sys.getrecursionlimit() == before


def test_the_stack_size_of_other_threads_is_unchanged() -> None:
    before = threading.stack_size()
    with_deep_stack(lambda: None)
    assert threading.stack_size() == before
