"""Finds the prints of compiled functions, and decides what becomes of each."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from gbfix.analysis.flow import Flow, State, flow_of, reads_tensor
from gbfix.analysis.preferences import Messages
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.codemods._messages import Message, MessageKind, message_of
from gbfix.codemods._obligations import shorten
from gbfix.codemods._outside import Outside, Plan
from gbfix.codemods._print_edges import would_split
from gbfix.codemods._print_text import AFTER, message_pieces
from gbfix.codemods._printed import Printed, Printer
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._reports import is_called, plan_of
from gbfix.codemods._sites import torch_name
from gbfix.codemods._tails import messages_leave
from gbfix.codemods._text import call, in_style_of, indentation_of, trailing_comment
from gbfix.codemods._transforms import print_is_configured, transform_obligation
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Safety

CODE, NAME = "GBF301", "print-in-region"
_HOP = "torch._higher_order_ops.print"
_SAME = "the text, its place and its number of times are the same"
_IS_COMPILING = frozenset(
    f"torch.{name}"
    for name in ("compiler.is_compiling", "compiler.is_dynamo_compiling", "_dynamo.is_compiling", "_utils.is_compiling")
)


def find(view: FileView) -> Iterator[Finding]:
    """Every print in the compiled functions of a file, in source order."""
    if print_is_configured(view.project):
        return
    for compiled in view.compiled:
        for finding in _PrintsOf(view, compiled).findings():
            if view.project.torch.captures("print"):
                return
            yield finding


class _PrintsOf:
    """The prints of one compiled function."""

    def __init__(self, view: FileView, compiled: CompiledFunction) -> None:
        self._view = view
        self._compiled = compiled
        self._source = view.source
        self._node = compiled.function.node

    def findings(self) -> Iterator[Finding]:
        """A finding for each call that prints and that Dynamo may come to."""
        messages = [message for call in _calls_of(self._node) if (message := self._printed_by(call)) is not None]
        if not messages:
            return
        tail = messages_leave(self._view, self._compiled.function)
        flow = flow_of(self._view, self._compiled.function)
        outside = Outside(flow)
        moved: set[ast.Call] = set()
        found: dict[ast.Call, Finding] = {}
        for message in messages:
            state = self._state_at(flow, message.call)
            if state is None or message.call in moved or self._never_compiled(message.call):
                continue
            if tail is not None and tail.holds(message.call):
                continue
            found[message.call], others = self._finding(outside, state, message)
            moved.update(others)
        yield from self._worthwhile(outside, found, moved)

    def _worthwhile(
        self, outside: Outside, found: Mapping[ast.Call, Finding], moved: Collection[ast.Call]
    ) -> Iterator[Finding]:
        """The findings without prints that cost nothing where they are, and would cost a graph inside one."""
        safe = {said for said, one in found.items() if one.safety is Safety.SAFE and said not in moved}
        units = {said: unit for unit in outside.edges.units for said in unit.messages}
        in_graph = frozenset(unit for unit in units.values() if safe.issuperset(unit.messages))
        for said, finding in found.items():
            unit = units.get(said)
            if unit is None or unit not in in_graph or not would_split(outside, unit, in_graph):
                yield finding

    def _printed_by(self, call: ast.Call) -> Message | None:
        message = message_of(self._view, call)
        if message is None or message.kind not in (MessageKind.PRINT, MessageKind.WRITE):
            return None
        return message

    def _state_at(self, flow: Flow, node: ast.expr) -> State | None:
        """The facts before the statement; None where it is not reached."""
        if isinstance(self._node, ast.Lambda):
            return flow.entry
        statement = next(parent for parent in self._source.ancestors(node) if isinstance(parent, ast.stmt))
        return flow.before.get(statement)

    # -- where a print stands ----------------------------------------------------------------

    def _never_compiled(self, node: ast.AST) -> bool:
        """True inside `if not torch.compiler.is_compiling()`, or in the `else` of the opposite."""
        child = node
        for parent in self._source.ancestors(node):
            if parent is self._node:
                return False
            if isinstance(parent, ast.If) and child is not parent.test:
                outcome = child in parent.body
                if self._is_compiling(parent.test) is (not outcome):
                    return True
            child = parent
        return False

    def _is_compiling(self, test: ast.expr) -> bool | None:
        """What a test comes to while Dynamo captures, None when it may be either."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                found = self._is_compiling(inner)
                return None if found is None else not found
            case ast.BoolOp(op=ast.And(), values=parts):
                return False if any(self._is_compiling(part) is False for part in parts) else None
            case ast.Call(func=func) if self._view.names.qualified(func) in _IS_COMPILING:
                return True
            case _:
                return None

    def _check_place(self, flow: Flow, node: ast.AST) -> None:
        child = node
        for parent in self._source.ancestors(node):
            if parent is self._node:
                return
            match parent:
                case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if child is not test:
                    tests = [test]
                case ast.BoolOp(values=parts):
                    tests = parts[: parts.index(child)] if isinstance(child, ast.expr) else []
                case _:
                    tests = []
            for test in tests:
                state = self._state_at(flow, test)
                if state is not None and reads_tensor(flow, state, test):
                    reason = (
                        f"it runs for one value of {shorten(self._source.segment(test))} only, where the graph breaks"
                    )
                    advice = f"return the value that the branch tests, and {AFTER}"
                    raise RefusedError("the print does not depend on a tensor", reason, test.lineno, advice)
            child = parent

    # -- deciding ------------------------------------------------------------------------------

    def _finding(self, outside: Outside, state: State, message: Message) -> tuple[Finding, tuple[ast.Call, ...]]:
        """What becomes of a message, and the messages that go along."""
        what = f"{shorten(self._source.segment(message.call), 60)} in compiled code"
        function, region = self._compiled.function.qualname, self._compiled.reason
        found = Finding(CODE, NAME, self._source.span(message.call), what, function, region)
        try:
            plan = self._plan(outside, state, message)
        except RefusedError as refused:
            return replace(found, obligations=(refused.obligation,), advice=refused.advice), ()
        along = tuple(call for unit in plan.units for call in unit.messages)
        return replace(found, obligations=plan.obligations, fix=plan.fix), along

    def _plan(self, outside: Outside, state: State, message: Message) -> Plan:
        """The way that was chosen, or the strongest that is exact. Raises RefusedError."""
        choice = self._view.project.preferences.messages
        if choice not in (Messages.AUTO, Messages.IN_GRAPH):
            if choice is not Messages.OUTSIDE:
                self._check_place(outside.flow, message.call)
            return self._elsewhere(outside, message)
        try:
            plan, refusal = self._in_graph(outside.flow, state, message), None
        except RefusedError as refused:
            plan, refusal = None, refused
        if choice is Messages.AUTO and (plan is None or _assumes(plan)):
            with contextlib.suppress(RefusedError):
                other = self._elsewhere(outside, message)
                if plan is None or not _assumes(other):
                    return other
        if plan is None:
            assert refusal is not None
            raise refusal
        return plan

    def _elsewhere(self, outside: Outside, message: Message) -> Plan:
        """The message somewhere else than in the graph. Raises RefusedError."""
        unit = next((unit for unit in outside.edges.units if message.call in unit.messages), None)
        line = message.call.lineno
        if unit is None:
            raise RefusedError("the message is a statement of its own", "it stands within another", line, AFTER)
        leaves = self._view.project.preferences.messages in (Messages.AUTO, Messages.OUTSIDE)
        if leaves and not is_called(self._compiled) and outside.edges.is_at_edge(unit):
            raise RefusedError("it splits a graph", "it is the first or the last thing of the function", line, AFTER)
        return plan_of(outside, self._compiled, unit)

    def _in_graph(self, flow: Flow, state: State, message: Message) -> Plan:
        """The message printed by the graph. Raises RefusedError."""
        call = message.call
        self._check_place(flow, call)
        if not self._view.project.torch.captures(_HOP):
            version = self._view.project.torch.version
            reason = f"PyTorch {version} has no print that a graph can hold"
            raise RefusedError(
                "the installed PyTorch prints from a graph", reason, call.lineno, f"{AFTER}, or use 2.11"
            )
        not_transformed = transform_obligation(self._view, call.lineno)
        pieces = message_pieces(self._view, message)
        printed = Printer(flow, state).print(pieces)
        torch, is_missing = torch_name(self._view, call)
        obligations = [
            Obligation(_SAME, Discharge.PROVED, "the graph prints between the operations around it", call.lineno),
            *printed.obligations.values(),
            not_transformed,
        ]
        if self._compiled.fullgraph:
            reason = "fullgraph=True made this print an error, which now is none"
            obligations.append(Obligation("nobody relies on the error", Discharge.ASSUMED, reason, call.lineno))
        replacement = Replacement(self._source.span(call), self._new_source(torch, printed, call))
        fix = Fix("print from within the graph", (replacement,), ("torch",) if is_missing else ())
        return Plan(fix, tuple(obligations), ())

    def _new_source(self, torch: str, printed: Printed, node: ast.Call) -> str:
        arguments = [_literal(printed.format), *printed.arguments]
        function = f"{torch}._higher_order_ops.print"
        parent = self._source.parents.get(node)
        flat = f"{function}({', '.join(arguments)})"
        if not isinstance(parent, ast.Expr):
            return flat
        text = call(function, arguments, indentation=len(indentation_of(self._source, parent)))
        return in_style_of(self._source, text + trailing_comment(self._source, node))


def _assumes(plan: Plan) -> bool:
    return any(obligation.discharge is Discharge.ASSUMED for obligation in plan.obligations)


def _calls_of(node: FunctionNode) -> Iterator[ast.Call]:
    """The calls in the body of a function, in source order, without those of functions and classes inside it."""
    pending: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(reversed(node.body))
    while pending:
        part = pending.pop()
        if isinstance(part, FunctionNode | ast.ClassDef):
            continue
        if isinstance(part, ast.Call):
            yield part
        pending.extend(reversed(list(ast.iter_child_nodes(part))))


def _literal(text: str) -> str:
    """A string literal in double quotes where that needs no more escapes."""
    plain = repr(text)
    return plain if '"' in text or plain.startswith('"') else f'"{plain[1:-1]}"'
