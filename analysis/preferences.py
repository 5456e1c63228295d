"""What a user chooses where a rule knows more than one way."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from gbfix.engine.dataclass import dataclass


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
    """The choices. in_graph_asserts: turn checks that raise into asserts in the graph, which raise RuntimeError.

    one_side: run the side of a branch that is taken (torch.cond), also where both could be computed (torch.where).
    """

    messages: Messages = Messages.AUTO
    in_graph_asserts: bool = False
    one_side: bool = False


DEFAULT = Preferences()
"""What holds where nothing is chosen."""


def other_ways(chosen: Preferences) -> tuple[Preferences, ...]:
    """What to try where the fix that was chosen first turned out to be wrong, the best first.

    The user's own choices stay: only what was left to gbfix has other ways.
    """
    ways = [replace(chosen, one_side=True)]
    if chosen.messages is Messages.AUTO:
        ways += [replace(chosen, one_side=True, messages=way) for way in (Messages.OUTSIDE, Messages.BOUNDARY)]
    return tuple(ways)
