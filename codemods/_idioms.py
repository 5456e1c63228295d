"""Calls in compiled functions, with what is known where they stand, for rules that replace one expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import get_args

from gbfix.analysis import values as v
from gbfix.analysis.flow import Flow, State, flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.values import Kind, Value
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement

_HOLDERS = (*get_args(FunctionNode), ast.ClassDef)
_KINDS = (ast.Call, ast.Compare, ast.Assign, ast.ClassDef)
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)


@dataclass(frozen=True, eq=False)
class Site:
    """A node in a compiled function; statement: the innermost one that holds it, None in a lambda."""

    view: FileView
    compiled: CompiledFunction
    node: ast.AST
    statement: ast.stmt | None

    @property
    def line(self) -> int:
        """The line on which it starts."""
        return self.view.source.span(self.node).line

    @property
    def flow(self) -> Flow:
        """What is known in the function."""
        return flow_of(self.view, self.compiled.function)

    @property
    def state(self) -> State | None:
        """What is known where the statement starts; None where it is never reached."""
        return self.flow.entry if self.statement is None else self.flow.before.get(self.statement)

    def value(self, expression: ast.expr) -> Value:
        """What is known of an expression of the statement, which may be evaluated in the middle of it."""
        state = self.state
        if state is None or self._bound_within(expression):
            return v.UNKNOWN
        return self.flow.evaluate(expression, state)[0]

    def _bound_within(self, expression: ast.expr) -> bool:
        """True when a comprehension or `:=` of the statement gives a name of the expression its value."""
        read = [part for part in ast.walk(expression) if isinstance(part, ast.Name)]
        rebound = {part.target.id for part in ast.walk(self.statement or expression) if isinstance(part, ast.NamedExpr)}
        return any(name.id in rebound or isinstance(self._scope(name), _COMPREHENSIONS) for name in read)

    def _scope(self, name: ast.Name) -> ast.AST:
        return self.view.names.lookup(name.id, name)[0]

    def text(self, node: ast.AST) -> str:
        """The source of a part."""
        return self.view.source.segment(node)

    def called(self) -> str:
        """The dotted library name of what a call calls, empty when it is something else."""
        return (self.view.names.qualified(self.node.func) or "") if isinstance(self.node, ast.Call) else ""

    def finding(self, rule: tuple[str, str], message: str, found: tuple[Fix, Sequence[Obligation]]) -> Finding:
        """A site with its fix."""
        fix, obligations = found
        code, name = rule
        span = self.view.source.span(self.node)
        where = self.compiled.function.qualname
        return Finding(code, name, span, message, where, self.compiled.reason, tuple(obligations), fix)

    def refusal(self, rule: tuple[str, str], message: str, refused: RefusedError) -> Finding:
        """A site that stays."""
        code, name = rule
        span = self.view.source.span(self.node)
        where = self.compiled.function.qualname
        return Finding(
            code, name, span, message, where, self.compiled.reason, (refused.obligation,), None, refused.advice
        )

    def replaced(self, title: str, new: str, *imports: str) -> Fix:
        """The fix that puts new source in place of the node."""
        return Fix(title, (Replacement(self.view.source.span(self.node), new),), imports)


def sites(view: FileView, *kinds: type[ast.AST]) -> Iterator[Site]:
    """The nodes of some kinds in the compiled functions of a file; those of inner functions belong to these."""
    return (site for site in _sites(view) if isinstance(site.node, kinds))


@lru_cache(maxsize=2)
def _sites(view: FileView) -> tuple[Site, ...]:
    """All nodes that a rule may ask for; found once for all rules."""
    found: list[Site] = []
    for compiled in view.compiled:
        node = compiled.function.node
        if isinstance(node, ast.Lambda):
            found += _inside(view, compiled, node.body, None)
        else:
            for statement in node.body:
                found += _inside(view, compiled, statement, statement)
    return tuple(found)


def _inside(view: FileView, compiled: CompiledFunction, node: ast.AST, statement: ast.stmt | None) -> Iterator[Site]:
    if isinstance(node, _KINDS):
        yield Site(view, compiled, node, statement)
    if isinstance(node, _HOLDERS):
        return
    for child in ast.iter_child_nodes(node):
        yield from _inside(view, compiled, child, child if isinstance(child, ast.stmt) else statement)


def proved(claim: str, reason: str, line: int) -> Obligation:
    """An obligation that the source meets."""
    return Obligation(claim, Discharge.PROVED, reason, line)


def assumed(claim: str, reason: str, line: int) -> Obligation:
    """An obligation that nothing shows."""
    return Obligation(claim, Discharge.ASSUMED, reason, line)


def is_a_tensor(value: Value, text: str, line: int) -> Obligation:
    """The obligation that a value is a tensor."""
    claim = "the value is a tensor"
    if value.kind is Kind.TENSOR and not value.assumed:
        return proved(claim, f"{text} is one", line)
    for assumption in sorted(value.assumed):
        return assumed(claim, assumption.claim, assumption.line or line)
    return assumed(claim, f"nothing shows that {text} is one", line)
