"""Places that values flow through, and the work-list that moves them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import Generic, TypeVar

from gbfix.engine.dataclass import dataclass

T = TypeVar("T")


@dataclass(eq=False)
class Slot(Generic[T]):
    """A place that values flow through, and what happens to each of them."""

    values: dict[T, None] = field(default_factory=dict)
    actions: list[Callable[[T], None]] = field(default_factory=list)
    targets: dict[Slot[T], None] = field(default_factory=dict)
    sources: list[Slot[T]] = field(default_factory=list)
    """The slots that its values come from, or depend on."""
    is_wanted: bool = False
    """Whether what flows through it can change the answer."""
    on_wanted: list[Callable[[], None]] = field(default_factory=list)
    """What brings in values from elsewhere, once the slot is wanted."""


class TooManyStepsError(Exception):
    """There were more steps than was allowed."""


class Flow(Generic[T]):
    """Moves values from slot to slot, one at a time, so that no chain of calls is too deep.

    Everything happens in the order in which it was asked for: the result is the same from run to run.
    """

    def __init__(self, steps: int | None = None) -> None:
        """`steps` is how many are allowed in all, None for any number."""
        self._left = steps
        self._far: deque[Callable[[], None]] = deque()
        self._pending: deque[tuple[Callable[[T], None], T] | Callable[[], None]] = deque()

    def later(self, task: Callable[[], None]) -> None:
        """Do something when its turn comes."""
        self._pending.append(task)

    def add(self, slot: Slot[T], value: T) -> None:
        """Let a value flow into a slot."""
        if value not in slot.values:
            slot.values[value] = None
            self._pending.extend([(action, value) for action in slot.actions])

    def watch(self, slot: Slot[T], action: Callable[[T], None]) -> None:
        """Do something once for every value that a slot has or gets."""
        slot.actions.append(action)
        self._pending.extend([(action, value) for value in slot.values])

    def link(self, source: Slot[T] | None, target: Slot[T]) -> None:
        """Let every value of one slot flow into another."""
        if source is not None and source is not target and target not in source.targets:
            source.targets[target] = None
            self.depend(source, target)
            self.watch(source, lambda value: self.add(target, value))

    def depend(self, source: Slot[T], target: Slot[T]) -> None:
        """Say that the values of one slot decide on those of another: who wants these, wants those."""
        if target.is_wanted:
            self.want(source)
        else:
            target.sources.append(source)

    def want(self, slot: Slot[T] | None) -> None:
        """Say that the values of a slot can change the answer, and so those of all slots that it depends on."""
        pending = [slot] if slot is not None else []
        while pending:
            current = pending.pop()
            if not current.is_wanted:
                current.is_wanted = True
                pending += current.sources
                current.sources = []
                self._pending += current.on_wanted
                current.on_wanted = []

    def when_wanted(self, slot: Slot[T], task: Callable[[], None]) -> None:
        """Do something once the values of a slot can change the answer."""
        if slot.is_wanted:
            self._pending.append(task)
        else:
            slot.on_wanted.append(task)

    def far(self, task: Callable[[], None]) -> None:
        """Do something when all is done that needs nothing from further away."""
        self._far.append(task)

    def allow(self, steps: int) -> None:
        """Allow this many steps from now on; 0 ends the work."""
        self._left = steps

    def forget(self) -> None:
        """Leave undone what waits for its turn."""
        self._pending.clear()
        self._far.clear()

    def run(self) -> None:
        """Go on until nothing changes. Raises TooManyStepsError."""
        while self._pending or self._far:
            if self._left is not None:
                if not self._left:
                    raise TooManyStepsError
                self._left -= 1
            task = (self._pending or self._far).popleft()
            if isinstance(task, tuple):
                task[0](task[1])
            else:
                task()
