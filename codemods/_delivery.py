"""The source of a message at another place, and what has to be kept for it at the old one.

What a message reads may have another value at the new place, or would be computed anew there. Then the old place keeps
it in a name: a number, a shape or a new tensor as it is, a tensor that is written in between as a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.tree import names_in
from gbfix.analysis.values import Kind, Value
from gbfix.codemods import _boundary_text as text
from gbfix.codemods._between import Between
from gbfix.codemods._f_strings import with_names
from gbfix.codemods._obligations import shorten
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._report_units import Unit
from gbfix.codemods._text import unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation

SAME_TEXT = "the message says the same"
ONLY_READS = "making the message changes nothing"
NO_FAILURE = "making the message does not raise"
NO_GRAD_FN = "no grad_fn is shown"
_READERS = frozenset({"item", "tolist", "format", "join", "isEnabledFor", "getEffectiveLevel", "hasHandlers"})


@dataclass
class Delivery:
    """A message for another place.

    kept: assignments for the old place. source: the statement for the new one. obligations: what was not proved.
    """

    unit: Unit
    kept: list[str] = field(default_factory=list)
    source: str = ""
    obligations: list[Obligation] = field(default_factory=list)


class DeliveryWriter:
    """Writes deliveries for the messages of one function; the names that it makes are new to the file."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.source = flow.context.source
        self._taken = set(all_names(self.source.tree))

    def name(self, wanted: str) -> str:
        """A name that the file does not use."""
        found = unused_name(wanted, frozenset(self._taken))
        self._taken.add(found)
        return found

    def deliver(self, unit: Unit, between: Between, *, hoist: bool, leaves_mode: bool) -> Delivery:
        """The message where `between` has run.

        hoist: tensor operations in it stay at the old place. leaves_mode: torch computes in another way at the new one.
        Raises RefusedError when what it says cannot be kept.
        """
        keeper = _Keeper(self, unit, between, hoist=hoist or leaves_mode, leaves_mode=leaves_mode)
        keeper.visit(unit.statement)
        keeper.delivery.source = text.edited(self.source, unit.statement, keeper.edits)
        return keeper.delivery


class _Keeper:
    """Decides about each expression of one message; `edits` are the names for those that are kept."""

    def __init__(self, writer: DeliveryWriter, unit: Unit, between: Between, *, hoist: bool, leaves_mode: bool) -> None:
        self.delivery = Delivery(unit)
        self.edits: dict[ast.AST, str] = {}
        self._writer, self._between, self._hoist = writer, between, hoist
        self._leaves_mode = leaves_mode
        self._flow = writer.flow
        self._names: dict[str, str] = {}
        self._conditions = 0
        messages = [call.func for call in unit.messages]
        self._receivers = {part for func in messages for part in ast.walk(func)}
        self._functions = {part.func for part in ast.walk(unit.statement) if isinstance(part, ast.Call)}
        self._check_helpers()

    def visit(self, node: ast.AST) -> None:
        """Keep what has to be kept of a statement or expression."""
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant | ast.Lambda) and self._is_settled(node):
            return
        if isinstance(node, ast.JoinedStr):
            self._visit_text(node)
            return
        for child, conditional in _children(node):
            self._conditions += conditional
            self.visit(child)
            self._conditions -= conditional

    def _visit_text(self, node: ast.JoinedStr) -> None:
        """An f-string is written anew: Python before 3.12 does not say where its parts stand."""
        outer, self.edits = self.edits, {}
        for part in node.values:
            self.visit(part)
        inner, self.edits = self.edits, outer
        if inner:
            self.edits[node] = with_names(node, inner)

    def _is_settled(self, node: ast.expr) -> bool:
        """True when nothing inside the expression needs a look: it is kept, or says the same later."""
        if node in self._functions and not isinstance(node, ast.Attribute):
            return True
        if (
            node in self.delivery.unit.messages
            or node in self._functions
            or isinstance(node, ast.JoinedStr | ast.FormattedValue | ast.Starred)
        ):
            return False
        value, evaluation = self._flow.evaluate(node, self._state)
        if isinstance(node, ast.Name):
            self._name(node, value)
            return True
        if not evaluation.effects.pure or evaluation.effects.reads:
            self._check_may_run_later(node)
            return False
        if self._conditions and not self._leaves_mode:
            return isinstance(node, ast.Attribute) and self._attribute(node)
        if value.kind is Kind.TENSOR:
            written = self._may_be_written(node)
            if self._is_set(node) or written or self._hoist:
                copied = written and not value.fresh
                source = ast.unparse(node)
                self._keep(node, f"{_primary(node)}.clone()" if copied else source, value if copied else None)
            return True
        if value.kind is Kind.NUMBER or (value.class_name or "").startswith("tensor."):
            if self._is_set(node) or (self._between.shapes_change and self._reads_local(node)):
                self._keep(node, ast.unparse(node))
            return True
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        return False

    def _name(self, node: ast.Name, value: Value) -> None:
        name = node.id
        rebound = name in self._between.stored
        if not self._flow.context.is_local(name) and not rebound:
            self._outer_name(node, value)
            return
        if value.kind is Kind.TENSOR and self._may_be_written(node):
            self._keep(node, f"{name}.clone()", value)
        elif value.kind is Kind.NUMBER or value.class_name in ("None", "str") or not self._may_be_written(node):
            if rebound:
                self._keep(node, name)
        else:
            changed = self._between.changes[0]
            reason = f"{name} may be changed before the message is said: {changed.text}"
            advice = f"say it after {name} has got its last value, or give the message a copy"
            raise RefusedError(SAME_TEXT, reason, changed.line, advice)

    def _outer_name(self, node: ast.Name, value: Value) -> None:
        """A global name, or one of a function around: kept when a call in between may set it."""
        bindings = self._flow.context.names.bindings(node.id, node)
        fixed = all(binding.qualified or isinstance(binding.node, ast.stmt) for binding in bindings)
        constant = len(bindings) == 1 and value.kind is Kind.NUMBER
        if self._between.shapes_change and not fixed and not constant and node not in self._receivers:
            self._assume(SAME_TEXT, f"what {node.id} holds may be changed in between", node.lineno)
            self._keep(node, node.id)

    def _attribute(self, node: ast.Attribute) -> bool:
        """What `self.step` holds: kept when it may be set in between."""
        read = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        written = sorted(read & self._between.touched_attributes)
        if written and node not in self._receivers:
            reason = f"what {shorten(ast.unparse(node))} holds may be written before the message is said"
            raise RefusedError(SAME_TEXT, reason, node.lineno, "give the message a copy")
        anything = self._between.unknown or self._between.shapes_change
        unknown = anything and node not in self._receivers and self._flow.context.names.qualified(node) is None
        if node.attr not in self._between.attributes and not unknown:
            return False
        if unknown:
            self._assume(SAME_TEXT, f"what {shorten(ast.unparse(node))} holds may be changed in between", node.lineno)
        self._keep(node, ast.unparse(node))
        return True

    def _keep(self, node: ast.expr, source: str, copied: Value | None = None) -> None:
        """Let the old place keep an expression; `copied` is the value of a tensor of which it is a copy."""
        if self._conditions and not isinstance(node, ast.Name | ast.Attribute):
            reason = f"{shorten(source)} is computed under a condition, in a mode that has ended by then"
            advice = "compute it before the condition that decides on the message"
            raise RefusedError(SAME_TEXT, reason, node.lineno, advice)
        if source not in self._names:
            first = next((part.id for part in ast.walk(node) if isinstance(part, ast.Name)), "value")
            wanted = node.attr if isinstance(node, ast.Attribute) else first
            self._names[source] = self._writer.name(f"reported_{wanted.strip('_')}")
            self.delivery.kept.append(f"{self._names[source]} = {source}")
        if copied is not None and copied.sources and not self._state.gradients_off:
            self._assume(NO_GRAD_FN, f"{shorten(source)} has a grad_fn of its own", node.lineno)
        self.edits[node] = self._names[source]

    def _check_may_run_later(self, node: ast.expr) -> None:
        """A part of the message that does more than compute, and runs later than before."""
        if not isinstance(node, ast.Call) or node in self.delivery.unit.messages:
            return
        for note in self._flow.evaluate(node, self._state)[1].effects.random:
            raise RefusedError(ONLY_READS, note.text, note.line, "draw the number before the message")
        func = node.func
        names = self._flow.context.names
        if (isinstance(func, ast.Name) and names.is_builtin(func, func.id)) or names.qualified(
            func
        ) == "logging.getLogger":
            return
        if isinstance(func, ast.Attribute) and func.attr == "item" and self._between.changes:
            value = self._flow.evaluate(func.value, self._state)[0]
            if not value.one and not value.is_scalar:
                reason = f"{shorten(ast.unparse(func.value))} may have several elements, which is found out later"
                self._assume(NO_FAILURE, reason, node.lineno)
        if not isinstance(func, ast.Attribute) or func.attr not in _READERS:
            self._assume(ONLY_READS, f"what {shorten(ast.unparse(func))}(...) does is not known", node.lineno)

    def _check_helpers(self) -> None:
        """A function that reports may read what is set in between by itself."""
        for helper in self.delivery.unit.helpers:
            own = {argument.arg for argument in ast.walk(helper.args) if isinstance(argument, ast.arg)}
            attributes = {part.attr for part in ast.walk(helper) if isinstance(part, ast.Attribute)}
            read = (names_in([helper]) - own) & self._between.stored | attributes & self._between.attributes
            for name in sorted(read):
                line = self.delivery.unit.statement.lineno
                reason = f"{helper.name} reads {name}, which is set before the message is said"
                raise RefusedError(SAME_TEXT, reason, line, f"give {name} to {helper.name} as an argument")

    def _assume(self, claim: str, reason: str, line: int) -> None:
        self.delivery.obligations.append(Obligation(claim, Discharge.ASSUMED, reason, line))

    @property
    def _state(self) -> State:
        return self._flow.before[self.delivery.unit.statement]

    def _reads_local(self, node: ast.expr) -> bool:
        return any(self._flow.context.is_local(name) for name in names_in([node]))

    def _is_set(self, node: ast.expr) -> bool:
        attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        return bool(names_in([node]) & self._between.stored or attributes & self._between.attributes)

    def _may_be_written(self, node: ast.expr) -> bool:
        """True when a value that the expression reads may be written in between, by this or another name."""
        if not self._between.changes:
            return False
        names = names_in([node])
        held = [self._state.values.get(name) for name in names]
        private = all(one is not None and (one.fresh or one.kind is Kind.NUMBER) for one in held)
        return bool(names & self._between.touched) or not private


def _primary(node: ast.expr) -> str:
    """The source of an expression to which a method call can be added."""
    source = ast.unparse(node)
    return source if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({source})"


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """The children, and whether each is evaluated under a condition within the node."""
    for name, value in ast.iter_fields(node):
        conditional = isinstance(node, ast.If | ast.IfExp) and name in ("body", "orelse")
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST):
                yield child, conditional or (isinstance(node, ast.BoolOp) and name == "values" and index > 0)
