"""What a file defines at its top level: which statement binds which names, and which names a statement uses."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass, field

_FUTURE = "from __future__ import annotations"


@dataclass(frozen=True)
class Statement:
    """A statement at the top level. lines: those of the file from its first decorator or comment, to its end.

    binds: the names that it gives a value. uses: names of the module that it or a function in it reads.
    rebinds: names of the module that a function in it sets by a `global` statement.
    """

    node: ast.stmt
    first_line: int
    last_line: int
    binds: tuple[str, ...]
    uses: frozenset[str]
    rebinds: frozenset[str]

    @property
    def imports(self) -> bool:
        """An import statement."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def definition(self) -> bool:
        """A function, a class, or an assignment to plain names."""
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign)


@dataclass(frozen=True)
class TopLevel:
    """A file. future: annotations are not evaluated. bound: the statements that bind a name, in order."""

    lines: tuple[str, ...]
    statements: tuple[Statement, ...]
    future: bool
    bound: dict[str, tuple[Statement, ...]] = field(default_factory=dict)

    @property
    def star_imports(self) -> bool:
        """Some names come from `from x import *`."""
        return any("*" in each.binds for each in self.statements)

    def uses(self, name: str) -> frozenset[str]:
        """The names that the statements which bind a name use."""
        return frozenset().union(*(each.uses for each in self.bound.get(name, ())))


def read_top_level(text: str) -> TopLevel:
    """Read a file. Raises SyntaxError."""
    tree = ast.parse(text)
    lines = text.splitlines()
    future = any(isinstance(node, ast.ImportFrom) and _is_future(node) for node in tree.body)
    statements = tuple(_statement(node, lines, future) for node in tree.body)
    bound: dict[str, list[Statement]] = {}
    for statement in statements:
        for name in statement.binds:
            bound.setdefault(name, []).append(statement)
    return TopLevel(tuple(lines), statements, future, {name: tuple(each) for name, each in bound.items()})


def _is_future(node: ast.ImportFrom) -> bool:
    return node.module == "__future__" and any(alias.name == "annotations" for alias in node.names)


def _statement(node: ast.stmt, lines: list[str], future: bool) -> Statement:
    decorators = getattr(node, "decorator_list", [])
    first = min(each.lineno for each in (node, *decorators))
    last = node.end_lineno or first
    code = "\n".join([*([_FUTURE] if future else []), *lines[first - 1 : last], ""])
    uses, rebinds = _names(code, future)
    while first > 1 and lines[first - 2].startswith("#") and not isinstance(node, ast.Import | ast.ImportFrom):
        first -= 1
    return Statement(node, first, last, tuple(dict.fromkeys(_bound(node))), uses, rebinds)


def _names(code: str, future: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the module that code reads, and those that its functions set."""
    if future and code.split("\n", 1)[1].startswith(_FUTURE):
        return frozenset(), frozenset()
    top = symtable.symtable(code, "<source>", "exec")
    uses = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    rebinds: set[str] = set()
    for table in _inner(top, future):
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                uses.add(symbol.get_name())
            if symbol.is_declared_global() and symbol.is_assigned():
                rebinds.add(symbol.get_name())
    return frozenset(uses), frozenset(rebinds)


def _inner(table: symtable.SymbolTable, future: bool) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        if not (future and "annotation" in str(child.get_type()).lower()):
            yield child
            yield from _inner(child, future)


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of the top level binds, in compound statements also those inside."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from _bound(child)
            else:
                yield from _stored(child)


def _stored(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.id
    elif isinstance(node, ast.ExceptHandler | ast.match_case):
        for child in ast.iter_child_nodes(node):
            yield from _bound(child) if isinstance(child, ast.stmt) else _stored(child)
    elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for child in ast.iter_child_nodes(node):
            yield from _stored(child)
