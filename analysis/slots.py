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


class TooManyStepsError(Exception):
    """There were more steps than was allowed."""


class Flow(Generic[T]):
    """Moves values from slot to slot, one at a time, so that no chain of calls is too deep.

    Everything happens in the order in which it was asked for: the result is the same from run to run.
    """

    def __init__(self, steps: int | None = None) -> None:
        """`steps` is how many are allowed in all, None for any number."""
        self._left = steps
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
            self.watch(source, lambda value: self.add(target, value))

    def run(self) -> None:
        """Go on until nothing changes. Raises TooManyStepsError."""
        while self._pending:
            if self._left is not None:
                if not self._left:
                    raise TooManyStepsError
                self._left -= 1
            task = self._pending.popleft()
            if isinstance(task, tuple):
                task[0](task[1])
            else:
                task()
