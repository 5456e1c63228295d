"""Names that stand for a selection, or for the places where a mask is true, and for nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.tree import names_in, stored_names

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement itself, without those of the statements inside it."""
    if isinstance(statement, FunctionNode | ast.ClassDef):
        return
    for _, value in ast.iter_fields(statement):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.expr):
                yield part
            elif isinstance(part, ast.withitem):
                yield part.context_expr


class NamedValues:
    """The names of one function whose single definition can be put in place of each of their uses."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.source = flow.context.source
        self.order = list(flow.before)

    def definition(self, node: ast.Name, statement: ast.stmt | None) -> ast.Assign | None:
        """The assignment whose right side has the value of a name here; None where there is none."""
        if statement is None or not isinstance(node.ctx, ast.Load):
            return None
        bindings = self.flow.context.names.bindings(node.id, node)
        if len(bindings) != 1 or not self.flow.context.is_local(node.id):
            return None
        found = bindings[0].statement
        plain = isinstance(found, ast.Assign) and len(found.targets) == 1 and isinstance(found.targets[0], ast.Name)
        if not plain or found not in self.flow.before or self._inner_use(node.id):
            return None
        assert isinstance(found, ast.Assign)
        return found if self._unchanged(found, statement) else None

    def loads(self, definition: ast.Assign) -> list[ast.Name]:
        """Every reading of the name that an assignment binds."""
        target = definition.targets[0]
        assert isinstance(target, ast.Name)
        return [
            node
            for node in ast.walk(self.flow.context.function.node)
            if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load)
        ]

    def _inner_use(self, name: str) -> bool:
        """True when an inner function reads the name, or something deletes it."""
        top = self.flow.context.function.node
        for node in ast.walk(top):
            if isinstance(node, FunctionNode) and node is not top and name in names_in([node]):
                return True
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Del):
                return True
        return False

    def _unchanged(self, definition: ast.Assign, use: ast.stmt) -> bool:
        """True when what the right side reads is the same at the definition and at the use."""
        if any(isinstance(part, ast.Attribute) and not self._is_method(part) for part in ast.walk(definition.value)):
            return False
        first, last = self.order.index(definition), self.order.index(use) if use in self.flow.before else -1
        if last < first:
            return False
        if self._loops(definition) != self._loops(use):
            last = len(self.order)
        read = names_in([definition.value])
        for statement in self.order[first + 1 : last]:
            if stored_names([statement]) & read or self._writes(statement, self.flow.before[statement]):
                return False
        return True

    def _is_method(self, node: ast.Attribute) -> bool:
        parent = self.source.parents[node]
        qualified = self.flow.context.names.qualified(node)
        return qualified is not None or (isinstance(parent, ast.Call) and parent.func is node)

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        return [parent for parent in self.source.ancestors(node) if isinstance(parent, _LOOPS)]

    def _writes(self, statement: ast.stmt, state: State) -> bool:
        """True when a statement may write a tensor in place."""
        if isinstance(statement, ast.AugAssign):
            target = statement.target
            held = state.values.get(target.id) if isinstance(target, ast.Name) else None
            return held is None or not held.fresh
        targets = [target for target in ast.walk(statement) if isinstance(target, ast.Subscript | ast.Attribute)]
        if any(isinstance(target.ctx, ast.Store | ast.Del) for target in targets):
            return True
        return any(
            self.flow.evaluate(part, state)[1].effects.writes
            for part in own_expressions(statement)
            if not (isinstance(statement, ast.With) and self._is_setting(part))
        )

    def _is_setting(self, node: ast.expr) -> bool:
        """True for a context manager of torch that is given constants: it sets something, and writes no tensor."""
        match node:
            case ast.IfExp(test=ast.Name() | ast.Attribute(value=ast.Name()), body=body, orelse=orelse):
                return self._is_setting(body) and self._is_setting(orelse)
            case ast.Call(func=func, args=args, keywords=keywords):
                given = [*args, *(keyword.value for keyword in keywords)]
                known = (self.flow.context.names.qualified(func) or "").startswith(("torch.", "contextlib.nullcontext"))
                return known and all(isinstance(one, ast.Constant) for one in given)
        return False

    def is_only_binding(self, node: ast.Name, definition: ast.Assign) -> bool:
        """True when a name can only have the value that one assignment gave it."""
        bindings = self.flow.context.names.bindings(node.id, node)
        return [binding.statement for binding in bindings] == [definition] and not self._inner_use(node.id)
