"""What a value needs of the statements in front of it: the source that computes it from the parameters alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function, FunctionNode, SourceFile
from gbfix.codemods._index_work import other_than_indices
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass

ALONE = "the value can be computed from the parameters alone"
ADVICE = "compute the value before the compiled function is called, and pass it in"
_KEEPS_DEVICE = frozenset(
    ("transpose", "permute", "view", "reshape", "unsqueeze", "squeeze", "contiguous", "flatten", "unflatten", "expand")
)
_CHANGES = frozenset(
    ("append", "extend", "insert", "pop", "update", "setdefault", "clear", "remove", "add", "discard", "fill_")
)


@dataclass(frozen=True)
class Slice:
    """The parameters that a value is computed from, and the statements that do so, in order."""

    parameters: tuple[str, ...]
    statements: tuple[ast.Assign, ...]


def slice_of(view: FileView, function: Function, statement: ast.Assign) -> Slice:
    """What the value of a statement needs. Raises RefusedError when it needs more than cheap work on parameters."""
    return _Slicer(view, function, statement).slice()


def statements_before(source: SourceFile, function: ast.FunctionDef, statement: ast.stmt) -> list[ast.stmt]:
    """The statements that have run whenever this one does, in order: those before it in each block that holds it."""
    found: list[ast.stmt] = []
    inner: ast.AST = statement
    for holder in source.ancestors(statement):
        block = getattr(holder, "body", [])
        if inner in block:
            found = [*block[: block.index(inner)], *found]
        if holder is function:
            break
        inner = holder
    return found


def conditions_around(source: SourceFile, function: ast.FunctionDef, statement: ast.stmt) -> list[ast.If]:
    """The `if`s in whose body a statement stands, the outermost first. Raises RefusedError for anything else."""
    found: list[ast.If] = []
    inner: ast.AST = statement
    for holder in source.ancestors(statement):
        if holder is function:
            break
        if not isinstance(holder, ast.If) or inner not in holder.body:
            line = getattr(holder, "lineno", statement.lineno)
            raise RefusedError(ALONE, "it stands in a loop, a `with`, a `try` or an `else`", line, ADVICE)
        found.insert(0, holder)
        inner = holder
    return found


class _Slicer:
    def __init__(self, view: FileView, function: Function, statement: ast.Assign) -> None:
        self._view, self._function, self._statement = view, function, statement
        assert isinstance(function.node, ast.FunctionDef)
        self._node = function.node
        self._before = statements_before(view.source, self._node, statement)
        self._own = [parameter.arg for parameter in function.parameters]
        self._read: set[str] = set()
        self._chosen: list[ast.Assign] = []

    def slice(self) -> Slice:
        self._add(self._statement)
        self._chosen.sort(key=self._before.index)
        heavy = other_than_indices(self._view, self._function, [*self._chosen, self._statement])
        if heavy is not None:
            text = self._view.source.segment(heavy) if hasattr(heavy, "lineno") else "a part of it"
            raise RefusedError(ALONE, f"{text} is more than cheap work", self._statement.lineno, ADVICE)
        for part in (part for one in [*self._chosen, self._statement] for part in ast.walk(one)):
            is_other = isinstance(part, FunctionNode | ast.NamedExpr | ast.ListComp | ast.GeneratorExp)
            changes = isinstance(part, ast.Attribute) and part.attr in _CHANGES
            if is_other or changes:
                raise RefusedError(ALONE, "it does more than compute", self._statement.lineno, ADVICE)
        return Slice(tuple(name for name in self._own if name in self._read), tuple(self._chosen))

    def _add(self, statement: ast.Assign) -> None:
        for name in ast.walk(statement.value):
            if isinstance(name, ast.Name) and self._view.names.lookup(name.id, name)[0] is self._node:
                self._need(name)

    def _need(self, name: ast.Name) -> None:
        stores = list(self._stores(name.id))
        if name.id in self._own and (not stores or self._asks_for_device(name, stores)):
            self._read.add(name.id)
            return
        only = stores[0] if len(stores) == 1 else None
        if name.id in self._own or not isinstance(only, ast.Assign) or only not in self._before:
            reason = f"{name.id} gets its value in several places, or under a condition"
            raise RefusedError(ALONE, reason, name.lineno, ADVICE)
        if not isinstance(only.targets[0], ast.Name) or len(only.targets) > 1:
            raise RefusedError(ALONE, f"{name.id} is one of several values", only.lineno, ADVICE)
        if only not in self._chosen:
            self._chosen.append(only)
            self._add(only)

    def _stores(self, name: str) -> Iterator[ast.stmt]:
        """The statements in front that give a name a value."""
        for part in ast.walk(self._node):
            if isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load):
                holder = next(one for one in self._view.source.ancestors(part) if isinstance(one, ast.stmt))
                if holder.lineno < self._statement.lineno:
                    yield holder

    def _asks_for_device(self, name: ast.Name, stores: Sequence[ast.stmt]) -> bool:
        """True when only the device is asked of a parameter that got other shapes on the way."""
        parent = self._view.source.parents[name]
        return isinstance(parent, ast.Attribute) and parent.attr == "device" and all(map(self._keeps_device, stores))

    def _keeps_device(self, store: ast.stmt) -> bool:
        match store:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr=method))
            ):
                return name == base and method in _KEEPS_DEVICE
        return False
