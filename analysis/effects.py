"""What running an expression does besides giving its value."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from enum import Enum

from gbfix.analysis.values import Hazard, Value
from gbfix.engine.dataclass import dataclass


@dataclass(frozen=True, order=True)
class Requirement:
    """A condition without which an expression raises; equal keys are the same condition at run time."""

    key: Hashable = field(compare=False)
    text: str = ""
    line: int = 0


@dataclass(frozen=True, order=True)
class Note:
    """A reason in words with the line it is about."""

    text: str
    line: int


class Write(Enum):
    """What an expression may write to tensors that it can reach."""

    DATA = "values only"
    ANYTHING = "values, shape and strides"


@dataclass
class Effects:
    """Collects the effects of one or more expressions.

    impure: reasons why it may do more than compute (I/O, state, unknown calls, in-place writes).
    random: draws from a random generator. requirements: what it needs in order not to raise; certain: the keys of
    those that it needs on every way through it. hazards: operations through which a zero gradient may become NaN;
    upstream: the names read whose own computation holds such operations. saves: operations that keep an operand for
    backward; names: every name read. heavy: calls of whole modules.
    reads: values of tensors that Python reads, each a break of its own. writes: what it may write. bound: names that
    it binds, and whether it certainly does.
    """

    impure: list[Note] = field(default_factory=list)
    random: list[Note] = field(default_factory=list)
    requirements: list[Requirement] = field(default_factory=list)
    hazards: list[Hazard] = field(default_factory=list)
    heavy: list[Note] = field(default_factory=list)
    reads: list[Note] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    upstream: dict[str, Value] = field(default_factory=dict)
    saves: list[Note] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    certain: set[Hashable] = field(default_factory=set)
    bound: list[tuple[str, Value, bool]] = field(default_factory=list)

    def add(self, other: Effects) -> None:
        """Take in the effects of another expression."""
        self.impure += other.impure
        self.random += other.random
        self.requirements += other.requirements
        self.hazards += other.hazards
        self.upstream.update(other.upstream)
        self.saves += other.saves
        self.names |= other.names
        self.heavy += other.heavy
        self.reads += other.reads
        self.writes += other.writes
        self.certain |= other.certain
        self.bound += other.bound

    @property
    def pure(self) -> bool:
        """True when it only computes, without randomness."""
        return not self.impure and not self.random

    def keys(self) -> frozenset[Hashable]:
        """The keys of all requirements."""
        return frozenset(requirement.key for requirement in self.requirements)
