"""What statements between a message and its new place do: raise, say something, change what the message says."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import field

from gbfix.analysis.effects import Effects, Note, Write
from gbfix.analysis.flow import Flow
from gbfix.analysis.project import FileView
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.tree import names_in, stored_names
from gbfix.analysis.values import Kind
from gbfix.codemods._definitions import definitions
from gbfix.codemods._messages import message_of, says_something
from gbfix.codemods._obligations import shorten
from gbfix.codemods._report_units import Unit
from gbfix.codemods._tree import blocks_of
from gbfix.engine.dataclass import dataclass

_MODES = frozenset(
    {"torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autocast"}
    | {"torch.amp.autocast", "torch.cuda.amp.autocast", "torch.profiler.record_function"}
)
_GRADIENT_ATTRIBUTES = ("data", "grad", "requires_grad")


def is_mode(view: FileView, manager: ast.expr) -> bool:
    """True for a context manager that only sets how torch computes."""
    return view.names.qualified(manager.func if isinstance(manager, ast.Call) else manager) in _MODES


@dataclass
class Between:
    """What some statements do.

    raising: why they may raise. speaking: what certainly says something; unknown: calls that may do anything.
    changes: what writes to tensors or other objects, touched, touched_attributes: the names that reach those;
    shapes_change: shapes, too. random: draws. stored: names that they bind, attributes: those that they set.
    assumed: what was taken for granted of their values. computes: something of it belongs into a graph.
    """

    raising: list[Note] = field(default_factory=list)
    speaking: list[Note] = field(default_factory=list)
    unknown: list[Note] = field(default_factory=list)
    changes: list[Note] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    touched_attributes: set[str] = field(default_factory=set)
    shapes_change: bool = False
    random: list[Note] = field(default_factory=list)
    stored: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    assumed: list[Note] = field(default_factory=list)
    computes: bool = False


class BetweenReader:
    """Reads what statements of one function do."""

    def __init__(self, flow: Flow, units: Sequence[Unit]) -> None:
        """`units` are the messages of the function."""
        self.flow = flow
        self.view = flow.context.view
        self.names = flow.context.names
        self._units = {unit.statement: unit for unit in units}

    def read(self, parts: Iterable[ast.stmt | ast.expr], without: Iterable[ast.stmt] = ()) -> Between:
        """What the parts do, leaving out the statements `without`; a part may be an expression of a statement.

        What a `raise` evaluates is left out: it is a way out of the function, and not between.
        """
        found, left_out = Between(), frozenset(without)
        for part in parts:
            if isinstance(part, ast.stmt):
                self._statement(part, found, left_out)
            else:
                holder = next(p for p in self.flow.context.source.ancestors(part) if isinstance(p, ast.stmt))
                self._expression(part, holder, found)
        return found

    def is_mode(self, manager: ast.expr) -> bool:
        """True for a context manager that only sets how torch computes."""
        return is_mode(self.view, manager)

    def _statement(self, statement: ast.stmt, found: Between, without: frozenset[ast.stmt]) -> None:
        if statement in without or isinstance(statement, ast.Raise):
            return
        if statement in self._units:
            text = self._text(self._units[statement].messages[0])
            found.speaking.append(Note(f"{text} says something, too", statement.lineno))
        if isinstance(statement, FunctionNode) and not getattr(statement, "decorator_list", []):
            found.stored |= stored_names([statement])
            return
        self._own(statement, found)
        for _, value in ast.iter_fields(statement):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.withitem):
                    self._manager(part, statement, found)
                elif isinstance(part, ast.expr) and isinstance(getattr(part, "ctx", ast.Load()), ast.Load):
                    self._expression(part, statement, found)
        for block in blocks_of(statement):
            for inner in block:
                self._statement(inner, found, without)

    def _own(self, statement: ast.stmt, found: Between) -> None:
        """What the statement itself does, without its expressions and blocks."""
        line, text = statement.lineno, self._text(statement)
        match statement:
            case ast.Assert():
                found.raising.append(Note(f"{text} holds", line))
            case ast.AugAssign(target=target):
                self._augmented(statement, target, found)
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                for target in targets:
                    self._target(target, found)
            case ast.AnnAssign(target=target):
                self._target(target, found)
            case ast.For(target=target, iter=ast.Call(func=func)) if self.names.is_builtin(func, "range"):
                self._target(target, found)
            case ast.For(target=target, iter=items):
                self._target(target, found)
                found.raising.append(Note(f"iterating over {self._text(items)} does not raise", line))
            case ast.ClassDef() | ast.Match() | ast.AsyncFor() | ast.AsyncWith() | ast.Import() | ast.ImportFrom():
                found.stored |= stored_names([statement])
                found.raising.append(Note(f"line {line} does not raise", line))
                found.unknown.append(Note(f"what line {line} does is not known", line))

    def _target(self, target: ast.expr, found: Between) -> None:
        text = self._text(target)
        match target:
            case ast.Name(id=name):
                found.stored.add(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                found.raising.append(Note(f"unpacking into {text} does not raise", target.lineno))
                for part in parts:
                    self._target(part, found)
            case ast.Starred(value=inner):
                self._target(inner, found)
            case ast.Attribute(attr=name):
                found.attributes.add(name)
                if name in _GRADIENT_ATTRIBUTES:
                    self._change(f"{text} is set", target, found, shapes=True)
            case _:
                found.raising.append(Note(f"setting {text} does not raise", target.lineno))
                self._change(f"{text} is set", target, found)

    def _change(self, text: str, node: ast.AST, found: Between, *, shapes: bool = False) -> None:
        found.changes.append(Note(text, getattr(node, "lineno", 0)))
        found.touched |= names_in([node])
        found.touched_attributes |= {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        found.shapes_change = found.shapes_change or shapes

    def _augmented(self, statement: ast.AugAssign, target: ast.expr, found: Between) -> None:
        """`x += 1`: of a number it is a new one, of a tensor or list the same one, written."""
        state = self.flow.before.get(statement)
        if isinstance(target, ast.Name):
            found.stored.add(target.id)
        else:
            self._target(target, found)
        if state is None:
            return
        held, value = self.flow.evaluate(target, state)[0], self.flow.evaluate(statement.value, state)[0]
        if held.kind is Kind.NUMBER:
            return
        found.computes = True
        self._change(f"{self._text(statement)} writes in place", target, found)
        plain = isinstance(statement.op, ast.Add | ast.Sub | ast.Mult) and held.kind is Kind.TENSOR
        same = value.kind is Kind.TENSOR and (value.shape, value.dtype, value.devices) == (
            held.shape,
            held.dtype,
            held.devices,
        )
        if not plain or not (same or value.number == "int"):
            found.raising.append(Note(f"{self._text(statement)} does not raise", statement.lineno))

    def _manager(self, item: ast.withitem, statement: ast.stmt, found: Between) -> None:
        manager = item.context_expr
        found.computes = True
        if item.optional_vars is not None:
            self._target(item.optional_vars, found)
        if not self.is_mode(manager):
            found.raising.append(Note(f"{self._text(manager)} does not raise", manager.lineno))
            found.unknown.append(Note(f"what {self._text(manager)} does is not known", manager.lineno))
            self._expression(manager, statement, found)

    def _expression(self, node: ast.expr, statement: ast.stmt, found: Between) -> None:
        state = self.flow.before.get(statement)
        if state is None:
            return
        value, evaluation = self.flow.evaluate(node, state)
        effects = evaluation.effects
        found.assumed += [Note(one.claim, one.line) for one in sorted(value.assumed)]
        found.raising += [Note(one.text, one.line) for one in effects.requirements if one.key not in state.established]
        found.random += effects.random
        self._effects(node, effects, found)
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                self._call(part, statement, found)
            elif isinstance(part, ast.NamedExpr):
                found.stored.add(part.target.id)
            elif isinstance(part, ast.Await | ast.Yield | ast.YieldFrom):
                found.unknown.append(Note("the function stops here for others", part.lineno))
            found.computes = found.computes or (isinstance(part, ast.expr) and self._computes(part, statement))

    def _effects(self, node: ast.expr, effects: Effects, found: Between) -> None:
        for note in effects.impure:
            if "is not known" in note.text or "does not follow" in note.text:
                found.raising.append(
                    Note(note.text.replace("what ", "").partition(" does")[0] + " does not raise", note.line)
                )
            elif "writes in place" in note.text:
                found.raising.append(Note(note.text.replace("writes in place", "does not raise"), note.line))
            elif "warns" in note.text:
                found.unknown.append(note)
        if effects.writes:
            note = effects.impure[0] if effects.impure else Note("it may write in place", node.lineno)
            self._change(note.text, node, found, shapes=Write.ANYTHING in effects.writes)

    def _computes(self, node: ast.expr, statement: ast.stmt) -> bool:
        """True for an operation that belongs into a graph, or may."""
        if not isinstance(node, ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript):
            return False
        value, evaluation = self.flow.evaluate(node, self.flow.before[statement])
        if value.kind in (Kind.NUMBER, Kind.OTHER):
            return bool(evaluation.effects.reads) or (isinstance(node, ast.Call) and bool(evaluation.effects.impure))
        return True

    def _call(self, call: ast.Call, statement: ast.stmt, found: Between) -> None:
        """Whether a call says something: certainly, possibly or not."""
        if isinstance(call.func, ast.Attribute):
            member = self.flow.context.member(call.func)
            if member is not None and (member.class_name or "").startswith("torch.nn."):
                return
            state = self.flow.before[statement]
            if self.flow.evaluate(call.func.value, state)[0].kind in (Kind.TENSOR, Kind.NUMBER):
                return
        if not says_something(self.view, call):
            return
        text = shorten(self.flow.context.source.segment(call.func))
        inside = [one for one in definitions(self.view, call.func) if isinstance(one.node, FunctionNode)]
        if message_of(self.view, call) is not None or any(
            message_of(one.view, part) is not None
            for one in inside
            if one.node is not None
            for part in ast.walk(one.node)
            if isinstance(part, ast.Call)
        ):
            found.speaking.append(Note(f"{text}(...) says something, too", call.lineno))
        else:
            found.unknown.append(Note(f"what {text}(...) does is not known", call.lineno))

    def _text(self, node: ast.AST) -> str:
        return shorten(self.flow.context.source.segment(node))
