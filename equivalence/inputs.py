"""What a check asks of inputs, wherever they come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence

from hypothesis.strategies import SearchStrategy

from gbfix.equivalence.example import Example
from gbfix.equivalence.model import Raised


class Inputs(ABC):
    """The examples of one target. origin: "14 recorded calls", "annotations", as in `Verdict.inputs`."""

    origin: str

    @abstractmethod
    def first(self) -> Example:
        """The most ordinary call."""

    @abstractmethod
    def fullest(self) -> Example:
        """An ordinary call with tensors also for arguments that may be left out."""

    @abstractmethod
    def variations(self) -> tuple[tuple[str, Example], ...]:
        """Calls that differ from the first in one named thing, for learning what the original takes."""

    @abstractmethod
    def accepting(self, taken: Collection[str]) -> Inputs:
        """Inputs that mostly stay with the variations named; about one example in ten goes beyond them."""

    @abstractmethod
    def starting_from(self, taken: Collection[str]) -> Inputs:
        """For a target that does not take the first call: inputs whose first call is one of these variations.

        Nothing is known then of what else the original takes: its variations are to be tried anew.
        """

    @abstractmethod
    def mended(self, raised: Raised) -> Iterator[Inputs]:
        """For a target that raised this for the first call: inputs with other first calls, the likeliest first."""

    @abstractmethod
    def corners(self) -> tuple[Example, ...]:
        """Fixed examples to try always, the most telling first, at most 40."""

    @abstractmethod
    def of_sizes(self, sizes: Sequence[int]) -> tuple[Example, ...]:
        """Ordinary calls with each free dimension of each of these sizes."""

    @abstractmethod
    def strategy(self) -> SearchStrategy[Example]:
        """A strategy that shrinks to small, contiguous, ordinary calls."""

    @abstractmethod
    def sequence(self) -> tuple[Example, Example, Example]:
        """A call, one with other values, and one with other shapes where sizes are free, else other values again."""
