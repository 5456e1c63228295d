from __future__ import annotations

import gc

import pytest

from gbfix.engine.garbage import without_garbage_collection


def test_collection_pauses_and_comes_back_after_an_error() -> None:
    seen = []

    @without_garbage_collection()
    def work() -> None:
        seen.append(gc.isenabled())
        raise ValueError("stop")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="stop"):
        work()
    assert seen == [False]
    assert gc.isenabled()


def test_the_inner_one_of_two_leaves_the_pause_to_the_outer_one() -> None:
    with without_garbage_collection():
        with without_garbage_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
