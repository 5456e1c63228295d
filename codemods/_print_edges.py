"""Keeps a print at the edge of a function from becoming a graph of its own."""

from __future__ import annotations

from gbfix.codemods._outside import Outside
from gbfix.codemods._report_units import Unit


def would_split(outside: Outside, unit: Unit, in_graph: frozenset[Unit]) -> bool:
    """True when Python says another message between a print at an edge and what the function computes.

    Printed from within a graph, the print would be a graph of its own there; as it is, it costs none. `in_graph` are
    the units that the graph can print.
    """
    edges, line = outside.edges, unit.statement.lineno
    for other in edges.units:
        if other is unit or other in in_graph or other.statement not in edges.flow.before:
            continue
        if edges.is_at_end(other) if other.statement.lineno < line else edges.is_at_start(other):
            return True
    return False
