"""What a user chooses where a rule knows more than one way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Messages(str, Enum):
    """How a message (print, logging, warnings) leaves a compiled region.

    AUTO: the strongest way that is exact at each place, in the order below, never DROP. IN_GRAPH: printed by the graph.
    OUTSIDE: the same text at the same call, at the edge of the region. BOUNDARY: one helper that is not
    compiled; the break stays, but is explicit. DROP: said only when the program runs without torch.compile.
    """

    AUTO = "auto"
    IN_GRAPH = "in-graph"
    OUTSIDE = "outside"
    BOUNDARY = "boundary"
    DROP = "drop"


@dataclass(frozen=True)
class Preferences:
    """The choices. in_graph_asserts: turn checks that raise into asserts in the graph, which raise RuntimeError."""

    messages: Messages = Messages.AUTO
    in_graph_asserts: bool = False


DEFAULT = Preferences()
"""What holds where nothing is chosen."""
