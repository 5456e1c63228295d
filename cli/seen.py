"""What a run showed of the files that a command works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gbfix.analysis.fakes import Fakes
from gbfix.analysis.observed import Observed
from gbfix.analysis.recompiles import RecompileSeen
from gbfix.engine.dataclass import dataclass


@dataclass(frozen=True)
class Seen:
    """What rules may take from a run; empty without one.

    observed: by file and line. fakes: tries operations on observed tensors. recompiles: by file of the function, what
    was compiled again. changes, runs_again: see `Project`. document: the name of the file that says all that, for
    reasons.
    """

    observed: Mapping[str, Mapping[int, Observed]] = field(default_factory=dict)
    fakes: Fakes | None = None
    recompiles: Mapping[str, tuple[RecompileSeen, ...]] = field(default_factory=dict)
    changes: tuple[str, ...] | None = None
    document: str = ""
    runs_again: bool = False


NOTHING_SEEN = Seen()
