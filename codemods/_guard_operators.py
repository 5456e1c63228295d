"""Which checks become operators that raise: those that cannot leave the graph, or would still break it there.

A check at the edge of the function that is compiled costs no graph. At the edge of one that is called from it, it
still ends the graph of the caller.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.traced import REASON
from gbfix.codemods import _obligations as duty
from gbfix.codemods._graph_checks import as_operator
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._tree import blocks_of
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Finding, Safety, Span

NeedsValue = Callable[[Flow, State, ast.expr], bool]


@dataclass(frozen=True)
class Check:
    """An `if` or an assert that raises, as a finding shows it."""

    statement: ast.stmt
    rule: tuple[str, str]
    span: Span
    message: str


def in_operators(
    flow: Flow, compiled: CompiledFunction, checks: Sequence[Check], found: Sequence[Finding], needs_value: NeedsValue
) -> list[Finding]:
    """The findings, with operators for the checks that nothing better was found for."""
    by_place = {finding.span: finding for finding in found}
    wanting = [check for check in checks if _wants_one(compiled, by_place.get(check.span))]
    for group in _groups(flow, wanting):
        for findings in _written(flow, compiled, group, needs_value):
            by_place.update({finding.span: finding for finding in findings})
    return sorted(by_place.values(), key=lambda finding: (finding.span, finding.code))


def _wants_one(compiled: CompiledFunction, finding: Finding | None) -> bool:
    """True for a check that stays, and for one that would only move to the edge of a function called from others."""
    is_called = compiled.reason == REASON or compiled.reason.startswith("called from")
    if finding is None:
        return is_called
    if finding.safety is Safety.REFUSED:
        return True
    return is_called and finding.fix is not None and finding.fix.title == "move it behind the result"


def _groups(flow: Flow, checks: Sequence[Check]) -> Iterator[list[Check]]:
    """Checks that follow each other in one block."""
    by_statement: dict[ast.stmt, Check] = {
        check.statement: check for check in checks if isinstance(check.statement, ast.If | ast.Assert)
    }
    for parent in ast.walk(flow.context.function.node):
        for block in blocks_of(parent) if isinstance(parent, ast.stmt) else ():
            for is_check, statements in groupby(block, by_statement.__contains__):
                if is_check:
                    yield [by_statement[statement] for statement in statements]


def _written(
    flow: Flow, compiled: CompiledFunction, group: Sequence[Check], needs_value: NeedsValue
) -> Iterator[list[Finding]]:
    """Findings for the whole group when it fits one operator, else for each that does alone."""
    try:
        yield _findings(flow, compiled, group, needs_value)
    except RefusedError:
        if len(group) > 1:
            for check in group:
                yield from _written(flow, compiled, [check], needs_value)


def _findings(flow: Flow, compiled: CompiledFunction, group: Sequence[Check], needs_value: NeedsValue) -> list[Finding]:
    made = as_operator(flow, [check.statement for check in group], lambda state, test: needs_value(flow, state, test))
    where = (compiled.function.qualname, compiled.reason)
    obligations = (*made.obligations, *duty.fullgraph_obligations(compiled.fullgraph, group[0].span.line))
    return [Finding(*check.rule, check.span, check.message, *where, obligations, made.fix) for check in group]
