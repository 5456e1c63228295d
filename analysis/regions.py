"""Which functions are compiled, and what Dynamo reaches from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbfix.analysis.source import Function

if TYPE_CHECKING:
    from gbfix.analysis.project import Project


@dataclass(frozen=True, eq=False)
class CompiledFunction:
    """A function that is compiled or reached from one that is.

    `reason` says it for people: "@torch.compile (line 3)", "called from f (line 9), compiled at
    train.py:20", "forward of an nn.Module (assumed compiled)". `fullgraph`, `dynamic` and `backend` are
    those of the entry, None where the source does not say a constant; with several entries
    `fullgraph` is True when any entry has it.
    """

    path: str
    function: Function
    reason: str
    fullgraph: bool | None = None
    dynamic: bool | None = None
    backend: str | None = None


def compiled_functions(project: Project) -> Iterable[CompiledFunction]:
    """Every compiled function of the project, in order of path and position."""
    raise NotImplementedError
