"""Where the messages of a function stand, and where the function begins and ends."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gbfix.analysis.flow import Flow
from gbfix.analysis.source import FunctionNode
from gbfix.codemods._between import BetweenReader
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._report_units import Unit, units_of
from gbfix.codemods._tree import blocks_of, leaving

EDGE = "the message can be said where the function begins or ends"
ADVICE = "report it in the caller, before or after the compiled function"
_MAXIMUM_ENDS = 4
_LOOPS = ast.For | ast.AsyncFor | ast.While
_READS_NAMES = ("locals", "vars", "eval", "exec", "globals", "dir")


class Edges:
    """One function with its messages, and the ways from these to its beginning and its ends."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.source = flow.context.source
        self.node = flow.context.function.node
        self.units = units_of(flow.context.view, flow.context.function)
        self.reader = BetweenReader(flow, self.units)
        self._moved = frozenset(unit.statement for unit in self.units)

    @property
    def body(self) -> list[ast.stmt]:
        """The statements of the function."""
        return [] if isinstance(self.node, ast.Lambda) else self.node.body

    def is_at_edge(self, unit: Unit) -> bool:
        """True when nothing is computed before the message, or nothing after it."""
        return self.is_at_start(unit) or self.is_at_end(unit)

    def is_at_start(self, unit: Unit) -> bool:
        """True when nothing is computed before the message."""
        return self._is_straight(unit) and not self.reader.read(self._before(unit), self._moved).computes

    def is_at_end(self, unit: Unit) -> bool:
        """True when nothing is computed after the message."""
        return self._is_straight(unit) and not self.reader.read(self.after(unit), self._moved).computes

    def _is_straight(self, unit: Unit) -> bool:
        return all(isinstance(parent, ast.If) for parent in self.around(unit.statement))

    def computes_inside(self, unit: Unit) -> bool:
        """True for a message that computes with tensors, or reads their values, in order to say it."""
        works = ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript | ast.Call
        state = self.flow.before[unit.statement]
        for part in ast.walk(unit.statement):
            if isinstance(part, works) and part not in unit.messages:
                value, evaluation = self.flow.evaluate(part, state)
                if value.tensor_like or evaluation.effects.reads:
                    return True
        return False

    @property
    def computes(self) -> bool:
        """True when the function computes anything, its messages included."""
        return self.reader.read(self.body, self._moved).computes or any(map(self.computes_inside, self.units))

    def around(self, statement: ast.stmt) -> list[ast.AST]:
        """The statements around one, innermost first."""
        found: list[ast.AST] = []
        for parent in self.source.ancestors(statement):
            if parent is self.node:
                break
            found.append(parent)
        return found

    def _before(self, unit: Unit) -> list[ast.stmt | ast.expr]:
        """The statements, and conditions around it, that run before a message."""
        found: list[ast.stmt | ast.expr] = []
        node: ast.stmt = unit.statement
        for parent in [*self.around(unit.statement), self.node]:
            block = next(block for block in _blocks(parent) if node in block)
            found += block[: block.index(node)]
            if isinstance(parent, ast.If):
                found.append(parent.test)
            if isinstance(parent, ast.stmt):
                node = parent
        return found

    def after(self, unit: Unit) -> list[ast.stmt]:
        """The statements that may run after a message, up to the ends of the function."""
        found: list[ast.stmt] = []
        node: ast.AST = unit.statement
        for parent in [*self.around(unit.statement), self.node]:
            block = next((block for block in _blocks(parent) if node in block), None)
            if block is not None and isinstance(node, ast.stmt):
                rest = block[block.index(node) + 1 :]
                found += rest
                if any(_ends(statement) for statement in rest):
                    break
            node = parent
        return found

    def ends(self, unit: Unit) -> list[ast.stmt | None]:
        """The ways out of the function after a message, None for the end of its last block."""
        after = self.after(unit)
        found: list[ast.stmt | None] = list(leaving(after))
        if not any(_ends(statement) for statement in after):
            found.append(None)
        return found

    def check_place(self, unit: Unit) -> None:
        """Raises RefusedError when the message can go nowhere from where it stands."""
        line = unit.statement.lineno
        if isinstance(self.node, ast.AsyncFunctionDef) or any(
            isinstance(part, ast.Yield | ast.YieldFrom | ast.Await) for part in ast.walk(self.node)
        ):
            raise RefusedError(EDGE, "the function runs in steps, between which others see the message", line, ADVICE)
        for part in ast.walk(self.node):
            if isinstance(part, ast.Name) and part.id in _READS_NAMES:
                claim, reason = "nothing reads all names of the function", f"{part.id}() may"
                raise RefusedError(claim, reason, part.lineno, ADVICE)
        for part in ast.walk(unit.statement):
            if isinstance(part, ast.NamedExpr):
                reason = f"it gives {part.target.id} a value"
                raise RefusedError("the message only reads", reason, part.lineno, "give the value before the message")
        for call in unit.messages:
            if any(keyword.arg == "stack_info" for keyword in call.keywords):
                claim = "the message does not show where it stands"
                raise RefusedError(claim, "stack_info shows its line", call.lineno, ADVICE)
        for parent in self.around(unit.statement):
            if isinstance(parent, _LOOPS):
                advice = (
                    "collect what it says and report it behind the loop, in a function under torch.compiler.disable"
                )
                raise RefusedError(EDGE, "it stands in a loop", parent.lineno, advice)
            if isinstance(parent, ast.With) and all(self.reader.is_mode(item.context_expr) for item in parent.items):
                continue
            if not isinstance(parent, ast.If):
                named = {ast.ExceptHandler: "except", ast.match_case: "match"}
                kind = named.get(type(parent), type(parent).__name__.lower())
                advice = f"move the message out of the `{kind}`"
                raise RefusedError(EDGE, f"it stands in a `{kind}`", getattr(parent, "lineno", line), advice)

    def check_ends(self, group: Sequence[Unit], ends: Sequence[ast.stmt | None]) -> None:
        """Raises RefusedError when the messages cannot all be said at each of the ends."""
        line = group[0].statement.lineno
        if len(ends) > _MAXIMUM_ENDS:
            raise RefusedError(EDGE, f"the function ends in {len(ends)} places", line, ADVICE)
        if len(ends) > 1 and any(unit.kind == "warning" for unit in group):
            claim = "the warning comes from one line"
            reason = "each end of the function would have a warning of its own, and each line warns once by default"
            raise RefusedError(claim, reason, line, ADVICE)
        for end in ends:
            for parent in self.around(end) if end is not None else ():
                if not isinstance(parent, ast.If):
                    kind = type(parent).__name__.lower()
                    at = getattr(parent, "lineno", line)
                    raise RefusedError(EDGE, f"the function ends inside a `{kind}`", at, ADVICE)
        for unit in group:
            for parent in self.around(unit.statement):
                inside = [end for end in ends if end is not None and parent in self.around(end)]
                if isinstance(parent, ast.If) and len(inside) != len(ends):
                    reason = "it stands under a condition that does more than report"
                    raise RefusedError(EDGE, reason, parent.lineno, "report behind the `if`, under the same condition")


def _blocks(parent: ast.AST) -> list[list[ast.stmt]]:
    if isinstance(parent, FunctionNode):
        return [] if isinstance(parent, ast.Lambda) else [parent.body]
    if isinstance(parent, ast.stmt):
        return list(blocks_of(parent))
    return [parent.body] if isinstance(parent, ast.ExceptHandler | ast.match_case) else []


def _ends(statement: ast.stmt) -> bool:
    """True for a statement behind which nothing runs."""
    if isinstance(statement, ast.Return | ast.Raise):
        return True
    if isinstance(statement, ast.If) and statement.orelse:
        return _ends(statement.body[-1]) and _ends(statement.orelse[-1])
    return isinstance(statement, ast.With) and _ends(statement.body[-1])
