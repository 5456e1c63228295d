"""Moves messages to the edge of a compiled function, where their break splits no graph.

A message moves up to where the function begins when nothing before it can raise or say anything, and else down to every
place where the function ends, together with all messages after it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.effects import Note
from gbfix.analysis.flow import Flow
from gbfix.codemods._between import Between
from gbfix.codemods._delivery import SAME_TEXT, Delivery, DeliveryWriter
from gbfix.codemods._edges import ADVICE, EDGE, Edges
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._report_units import WARNING, Unit
from gbfix.codemods._text import indentation_of, reindented
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Fix, Obligation, Replacement

NOTHING_RAISES = "nothing between the message and its new place raises"
NOTHING_SAYS = "nothing between the message and its new place says anything"
NO_ERROR = "nobody turns the warning into an error"


_ASK_MODE = frozenset(
    {"is_grad_enabled", "is_inference_mode_enabled", "is_autocast_enabled", "is_autocast_cpu_enabled"}
    | {"get_autocast_dtype", "get_autocast_gpu_dtype", "get_autocast_cpu_dtype", "is_autocast_cache_enabled"}
)


@dataclass(frozen=True)
class Plan:
    """A fix with what it relies on, and the messages that it moves."""

    fix: Fix
    obligations: tuple[Obligation, ...]
    units: tuple[Unit, ...]


class Outside:
    """The way of a function's messages to its edges."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.source = flow.context.source
        self.edges = Edges(flow)

    def plan(self, unit: Unit) -> Plan:
        """The way that assumes least. Raises RefusedError when there is none."""
        self.edges.check_place(unit)
        plans: list[Plan] = []
        for way in (self._up, self._down):
            try:
                plans.append(way(unit))
            except RefusedError as refused:
                failure = refused
        if not plans:
            raise failure
        return min(plans, key=lambda plan: sum(o.discharge is Discharge.ASSUMED for o in plan.obligations))

    # -- up --------------------------------------------------------------------------------

    def _up(self, unit: Unit) -> Plan:
        line, body = unit.statement.lineno, self.edges.body
        start = next(index for index, statement in enumerate(body) if not self._is_leading(statement))
        index = body.index(unit.statement) if unit.statement in body else -1
        if index <= start:
            raise RefusedError(EDGE, "it cannot go up", line, ADVICE)
        passed = body[start:index]
        if any(isinstance(part, ast.Return | ast.Raise) for statement in passed for part in ast.walk(statement)):
            raise RefusedError(EDGE, "the function may end before the message", line, ADVICE)
        between = self.edges.reader.read(passed)
        self._check_silent(between)
        self._check_early(unit, between)
        target = body[start]
        replacements = (
            Replacement(self.source.span(target), f"{self._dedented(unit.statement)}\n{self._dedented(target)}"),
            Replacement(self.source.span(unit.statement), ""),
        )
        same = Obligation(SAME_TEXT, Discharge.PROVED, "it reads nothing that is set before it", line)
        obligations = (same, *self._obligations([unit], between))
        return Plan(Fix("report where the function begins", replacements), obligations, (unit,))

    def _is_leading(self, statement: ast.stmt) -> bool:
        """True for what may stand before a message at the start: the docstring, messages, what computes nothing."""
        if any(unit.statement is statement for unit in self.edges.units):
            return True
        if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Pass | ast.Global | ast.Nonlocal):
            return False
        return not self.edges.reader.read([statement]).computes

    def _check_early(self, unit: Unit, between: Between) -> None:
        """Raises RefusedError unless the message can be made before the statements ran, without computing."""
        parts = [part for node in [unit.statement, *unit.helpers] for part in ast.walk(node)]
        read = {part.id for part in parts if isinstance(part, ast.Name)}
        attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
        needed = sorted((read & between.stored) | (attributes & between.attributes))
        line = unit.statement.lineno
        if needed:
            raise RefusedError(SAME_TEXT, f"it says {needed[0]}, which is not there before", line, ADVICE)
        for note in [*between.changes, *between.random]:
            raise RefusedError(SAME_TEXT, note.text, note.line, ADVICE)
        if self.edges.computes_inside(unit):
            raise RefusedError(SAME_TEXT, "it computes what it says", line, ADVICE)

    # -- down ------------------------------------------------------------------------------

    def _down(self, unit: Unit) -> Plan:
        after = self.edges.after(unit)
        behind = {part for statement in after for part in ast.walk(statement)}
        group = (unit, *(other for other in self.edges.units if other.statement in behind))
        for other in group[1:]:
            self.edges.check_place(other)
        ends = self.edges.ends(unit)
        self.edges.check_ends(group, ends)
        moved = [one.statement for one in group]
        between = self.edges.reader.read(after, moved)
        self._check_silent(between)
        writer = DeliveryWriter(self.flow)
        deliveries = [self._delivery(writer, one, moved, hoist=index > 0) for index, one in enumerate(group)]
        obligations = [o for delivery in deliveries for o in delivery.obligations]
        if not any(o.claim == SAME_TEXT for o in obligations):
            reason = "what it reads is not set between, or is kept"
            obligations.insert(0, Obligation(SAME_TEXT, Discharge.PROVED, reason, unit.statement.lineno))
        obligations += self._obligations(group, between)
        replacements = [*self._removals(deliveries), *self._insertions(writer, deliveries, ends)]
        fix = Fix("report where the function ends", tuple(sorted(replacements, key=lambda one: one.span)))
        return Plan(fix, tuple(dict.fromkeys(obligations)), group)

    def _delivery(self, writer: DeliveryWriter, unit: Unit, moved: Sequence[ast.stmt], *, hoist: bool) -> Delivery:
        in_mode = any(isinstance(parent, ast.With) for parent in self.edges.around(unit.statement))
        for node in (unit.statement, *unit.helpers) if in_mode else ():
            for part in ast.walk(node):
                if isinstance(part, ast.Attribute | ast.Name) and (_last_name(part) in _ASK_MODE):
                    reason = f"{_last_name(part)} asks for a mode that has ended by then"
                    raise RefusedError(SAME_TEXT, reason, unit.statement.lineno, ADVICE)
        between = self.edges.reader.read(self.edges.after(unit), moved)
        return writer.deliver(unit, between, hoist=hoist, leaves_mode=in_mode)

    def _removals(self, deliveries: Sequence[Delivery]) -> Iterator[Replacement]:
        for delivery in deliveries:
            yield Replacement(self.source.span(delivery.unit.statement), "\n".join(delivery.kept))

    def _insertions(
        self, writer: DeliveryWriter, deliveries: Sequence[Delivery], ends: Sequence[ast.stmt | None]
    ) -> Iterator[Replacement]:
        said = [delivery.source for delivery in deliveries]
        name = writer.name("result")
        for end in ends:
            if end is None:
                last = self.edges.body[-1]
                yield Replacement(self.source.span(last), "\n".join([self._dedented(last), *said]))
            elif isinstance(end, ast.Return) and end.value is not None and not _is_plain(end.value):
                value = self._dedented(end).removeprefix("return").lstrip()
                yield Replacement(self.source.span(end), "\n".join([f"{name} = {value}", *said, f"return {name}"]))
            else:
                yield Replacement(self.source.span(end), "\n".join([*said, self._dedented(end)]))

    # -- obligations -----------------------------------------------------------------------

    def _check_silent(self, between: Between) -> None:
        for note in between.speaking:
            raise RefusedError(NOTHING_SAYS, note.text, note.line, ADVICE)

    def _obligations(self, group: Sequence[Unit], between: Between) -> list[Obligation]:
        line = group[0].statement.lineno
        # A run that was observed shows shapes, from which Flow knows what cannot fail; not that a call came to its end.
        found = [
            _judged(NOTHING_RAISES, [*between.assumed, *between.raising], "only operations that cannot fail", line)
        ]
        found.append(_judged(NOTHING_SAYS, between.unknown, "only known operations", line))
        if any(unit.kind == WARNING for unit in group):
            set_later = [Note(f".{name} is set", line) for name in sorted(between.attributes)]
            notes = [*between.changes, *between.unknown, *between.random, *set_later]
            found.append(_judged(NO_ERROR, notes, "nobody could tell at which of the two places it is raised", line))
        return found

    def _dedented(self, statement: ast.stmt) -> str:
        return reindented(self.source.segment(statement), indentation_of(self.source, statement), "")


def _judged(claim: str, notes: Sequence[Note], reason: str, line: int) -> Obligation:
    if notes:
        return Obligation(claim, Discharge.ASSUMED, notes[0].text, notes[0].line)
    return Obligation(claim, Discharge.PROVED, reason, line)


def _last_name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _is_plain(node: ast.expr) -> bool:
    """True for an expression that only names what exists."""
    if isinstance(node, ast.Tuple | ast.List):
        return all(_is_plain(part) for part in node.elts)
    return isinstance(node, ast.Name | ast.Constant)
