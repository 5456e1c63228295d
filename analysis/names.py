"""What a name refers to: scopes, bindings, and dotted names through imports.

Matching on spelling is what goes wrong in such tools (`cfg.max`, a parameter named `torch`), so
every question about a library function is asked of the binding. The answers are must-answers: a
name with several bindings resolves only when all of them agree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from gbfix.analysis.source import SourceFile

_Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp
_FunctionLike = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scope = ast.Module | ast.ClassDef | _FunctionLike | _Comprehension
"""The nodes that open a scope of names."""


@dataclass(frozen=True, eq=False)
class Binding:
    """One place that gives a name a meaning.

    `node` is the binding node: an import, a def, a class, an `ast.arg`, an `ast.Name` in
    store context, an `ast.ExceptHandler`, a match pattern. `statement` is the statement that binds (itself for
    a def), and `qualified` the dotted name for an import ("torch.nn" for `from torch import nn`; relative imports keep their dots).
    """

    name: str
    node: ast.AST
    statement: ast.AST
    qualified: str | None = None


@dataclass(eq=False)
class _Table:
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: dict[str, str] = field(default_factory=dict)  # name -> "global" or "nonlocal"


class Names:
    """The scopes of one file."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self._tables: dict[ast.AST, _Table] = {}
        self._collect()

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope in which an expression or statement is evaluated.

        Decorators, defaults, annotations and base classes belong to the scope around the def.
        """
        child = node
        for parent in self.source.ancestors(node):
            if isinstance(parent, Scope) and not _evaluated_outside(parent, child):
                return parent
            child = parent
        return self.source.tree

    def bindings(self, name: str, at: ast.AST) -> list[Binding]:
        """Every binding that a load of `name` at node `at` may see; empty for a builtin or unknown name."""
        scope: ast.AST = self.scope_of(at)
        first = True
        while True:
            table = self._tables[scope]
            if first or not isinstance(scope, ast.ClassDef):
                if table.outer.get(name) == "global":
                    return self._tables[self.source.tree].bindings.get(name, [])
                if name in table.bindings:
                    return table.bindings[name]
            if isinstance(scope, ast.Module):
                return []
            first = False
            scope = self.scope_of(scope)

    def local_bindings(self, scope: Scope) -> dict[str, list[Binding]]:
        """The names that a scope itself binds."""
        return self._tables[scope].bindings

    def declared_outer(self, scope: Scope) -> dict[str, str]:
        """Names that the scope declares `global` or `nonlocal`."""
        return self._tables[scope].outer

    def qualified(self, node: ast.expr) -> str | None:
        """The dotted library name of an expression, such as "torch.compile" for `th.compile`.

        None unless the first name is bound by imports only and all of them agree. `X = None` in an
        `except ImportError` beside the import does not count: code that uses X then fails anyway.
        """
        if isinstance(node, ast.Attribute):
            base = self.qualified(node.value)
            return None if base is None else f"{base}.{node.attr}"
        if not isinstance(node, ast.Name):
            return None
        found = {b.qualified for b in self.bindings(node.id, node) if not self._import_fallback(b)}
        return found.pop() if len(found) == 1 else None

    def is_builtin(self, node: ast.expr, name: str) -> bool:
        """True when `node` is a bare `name` that nothing in the file rebinds."""
        return isinstance(node, ast.Name) and node.id == name and not self.bindings(name, node)

    def single_definition(self, node: ast.expr) -> Binding | None:
        """The one binding of a bare name, None when there are several or none."""
        if not isinstance(node, ast.Name):
            return None
        found = self.bindings(node.id, node)
        return found[0] if len(found) == 1 else None

    def _import_fallback(self, binding: Binding) -> bool:
        statement = binding.statement
        if not (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)):
            return False
        parent = self.source.parents.get(statement)
        return isinstance(parent, ast.ExceptHandler) and "Import" in ast.dump(parent.type or ast.Constant(""))

    def _collect(self) -> None:
        nodes = list(ast.walk(self.source.tree))
        self._tables.update((node, _Table()) for node in nodes if isinstance(node, Scope))
        for node in nodes:
            for name, qualified in _names_bound_by(node):
                scope = self._binding_scope(node)
                self._add(scope, Binding(name, node, self._statement(node), qualified))
            if isinstance(node, ast.Global | ast.Nonlocal):
                kind = "global" if isinstance(node, ast.Global) else "nonlocal"
                self._tables[self.scope_of(node)].outer.update(dict.fromkeys(node.names, kind))
        self._move_outer_bindings()

    def _add(self, scope: ast.AST, binding: Binding) -> None:
        self._tables[scope].bindings.setdefault(binding.name, []).append(binding)

    def _binding_scope(self, node: ast.AST) -> ast.AST:
        """A parameter binds in its function, a walrus in a comprehension in the scope around that."""
        if isinstance(node, ast.arg):
            return self.source.parents[self.source.parents[node]]
        scope: Scope = self.scope_of(node)
        parent = self.source.parents.get(node)
        if isinstance(parent, ast.NamedExpr) and parent.target is node:
            while isinstance(scope, _Comprehension):
                scope = self.scope_of(scope)
        return scope

    def _statement(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.stmt):
            return node
        return next((p for p in self.source.ancestors(node) if isinstance(p, ast.stmt)), self.source.tree)

    def _move_outer_bindings(self) -> None:
        """A store under `global x` binds the module's x, one under `nonlocal x` an outer function's."""
        for scope, table in self._tables.items():
            for name, kind in table.outer.items():
                owner = self._function_binding(name, scope) if kind == "nonlocal" else self.source.tree
                for binding in table.bindings.pop(name, []):
                    self._add(owner, binding)

    def _function_binding(self, name: str, scope: ast.AST) -> ast.AST:
        for parent in self.source.ancestors(scope):
            if isinstance(parent, _FunctionLike) and name in self._tables[parent].bindings:
                return parent
        return self.source.tree


def _names_bound_by(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """The names that a node binds by itself, each with the dotted name it imports, if it does."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, None
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name, None
        case ast.Import(names=aliases):
            for alias in aliases:
                top = alias.name.split(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            for alias in aliases:
                target = "." * level + ".".join(part for part in (module, alias.name) if part)
                yield alias.asname or alias.name, target
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name, None
        case ast.MatchMapping(rest=str(name)):
            yield name, None
        case _:
            return


def _evaluated_outside(scope: ast.AST, child: ast.AST) -> bool:
    """True for the parts of a def, class or lambda that its surrounding scope evaluates."""
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return child not in scope.body
    return isinstance(scope, ast.Lambda) and child is not scope.body
