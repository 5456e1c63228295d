from itertools import pairwise

import pytest

from gbfix.analysis.slots import Flow, Slot, TooManyStepsError


def test_values_flow_through_a_circle_once() -> None:
    flow: Flow[int] = Flow()
    slots: list[Slot[int]] = [Slot() for _ in range(3)]
    seen: list[int] = []
    flow.watch(slots[2], seen.append)
    for source, target in zip(slots, [*slots[1:], slots[0]], strict=True):
        flow.link(source, target)
    flow.add(slots[0], 1)
    flow.add(slots[1], 2)
    flow.run()
    assert [list(slot.values) for slot in slots] == [[1, 2], [2, 1], [2, 1]]
    assert seen == [2, 1]


def test_a_late_watcher_sees_every_value_once() -> None:
    flow: Flow[int] = Flow()
    slot: Slot[int] = Slot()
    seen: list[int] = []
    flow.add(slot, 1)
    flow.watch(slot, seen.append)
    flow.add(slot, 2)
    flow.run()
    assert seen == [1, 2]


def test_a_long_chain_needs_no_deep_stack() -> None:
    flow: Flow[int] = Flow()
    slots: list[Slot[int]] = [Slot() for _ in range(5000)]
    for source, target in pairwise(slots):
        flow.link(source, target)
    flow.add(slots[0], 1)
    flow.run()
    assert list(slots[-1].values) == [1]


def test_tasks_wait_for_their_turn() -> None:
    flow: Flow[int] = Flow()
    done: list[str] = []
    flow.later(lambda: (done.append("first"), flow.later(lambda: done.append("third")))[0])
    flow.later(lambda: done.append("second"))
    assert done == []
    flow.run()
    assert done == ["first", "second", "third"]


def test_steps_can_be_limited() -> None:
    def endless(flow: Flow[int]) -> None:
        slot: Slot[int] = Slot()
        flow.watch(slot, lambda value: flow.add(slot, value + 1))
        flow.add(slot, 0)
        flow.run()

    with pytest.raises(TooManyStepsError):
        endless(Flow(1000))
