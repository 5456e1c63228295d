"""What a name refers to: scopes, bindings, and dotted names through imports.

Matching on spelling is what goes wrong in such tools (`cfg.max`, a parameter named `torch`), so
every question about a library function is asked of the binding. The answers are must-answers: a
name with several bindings resolves only when all of them agree. The rules of scopes are those of
the Python reference, "Naming and binding".
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property
from typing import get_args

from gbfix.analysis.source import FunctionNode, SourceFile, children, evaluated_outside
from gbfix.engine.dataclass import dataclass

_Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp
Scope = ast.Module | ast.ClassDef | FunctionNode | _Comprehension
"""The nodes that open a scope of names."""

_SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *get_args(_Comprehension))
_CHANGES_SCOPE = frozenset([*_SCOPES, ast.comprehension, ast.NamedExpr])
_TYPE_PARAMETERS = tuple(
    getattr(ast, name) for name in ("TypeVar", "ParamSpec", "TypeVarTuple") if hasattr(ast, name)
)  # Python 3.12
_PATTERNS = (ast.MatchAs, ast.MatchStar, ast.MatchMapping)
_OTHER_BINDERS = (ast.Name, ast.Import, ast.ImportFrom, ast.ExceptHandler, ast.Global, ast.Nonlocal)
_BINDERS = frozenset((*_SCOPES, *_TYPE_PARAMETERS, *_PATTERNS, *_OTHER_BINDERS))
_LEAVES = frozenset([ast.Name, ast.Constant])
_BUILTINS = frozenset(dir(builtins))
_EXPORTED_BY_ARRAY_LIBRARIES = frozenset(
    {"abs", "all", "any", "bool", "compile", "complex", "divmod", "float"}
    | {"int", "max", "min", "open", "pow", "range", "round", "sum"}
)
"""Builtins that `from torch import *`, numpy, math or os replace (read off their exported names)."""


@dataclass(frozen=True, eq=False)
class Binding:
    """One place that gives a name a meaning.

    `node` is the binding node: an import, a def, a class, an `ast.arg`, an `ast.Name` in
    store context, an `ast.ExceptHandler`, a match pattern. `statement` is the statement that binds
    (itself for a def), and `qualified` the dotted name for an import ("torch.nn" for
    `from torch import nn`; relative imports keep their dots).
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
        self._scopes: dict[ast.AST, Scope] = {source.tree: source.tree}
        self._tables: dict[ast.AST, _Table] = {source.tree: _Table()}
        self._qualified: dict[tuple[ast.AST, str], str | None] = {}
        self._from_stars: dict[str, list[Binding]] = {}
        self._collect()
        self._move_outer_bindings()

    def nodes(self) -> Iterable[tuple[ast.AST, Scope]]:
        """Every node with its scope, outer before inner, in source order but for decorators and the like."""
        return self._scopes.items()

    @cached_property
    def loads(self) -> dict[str, list[ast.Name]]:
        """Every load of each name, in source order."""
        found: dict[str, list[ast.Name]] = {}
        for node, _ in self.nodes():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(node)
        return found

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope in which an expression or statement is evaluated.

        Decorators, defaults, annotations and base classes belong to the scope around the def, and
        so does the first iterable of a comprehension.
        """
        return self._scopes.get(node, self.source.tree)

    def bindings(self, name: str, at: ast.AST) -> list[Binding]:
        """Every binding that a load of `name` at node `at` may see; empty for a builtin or unknown name.

        A name that only `from m import *` can have brought is bound by that import, as "m.name".
        """
        return self.lookup(name, at)[1]

    def lookup(self, name: str, at: ast.AST) -> tuple[Scope, list[Binding]]:
        """The scope that a load of `name` at node `at` finds it in, and its bindings there.

        The scope is the module when nothing binds the name.
        """
        module = self.source.tree
        scope = innermost = self.scope_of(at)
        while not isinstance(scope, ast.Module):
            table = self._tables[scope]
            if scope is innermost or not isinstance(scope, ast.ClassDef):
                if table.outer.get(name) == "global":
                    break
                if name in table.bindings:
                    return scope, table.bindings[name]
            scope = self._scopes[scope]
        found = self._tables[module].bindings.get(name)
        return module, self._star_bindings(name) if found is None else found

    def local_bindings(self, scope: Scope) -> dict[str, list[Binding]]:
        """The names that a scope itself binds."""
        return self._tables[scope].bindings

    def declared_outer(self, scope: Scope) -> dict[str, str]:
        """Names that the scope declares `global` or `nonlocal`."""
        return self._tables[scope].outer

    def qualified(self, node: ast.expr) -> str | None:
        """The dotted library name of an expression, such as "torch.compile" for `th.compile`.

        None unless the first name is bound by imports only, or by plain assignments of such names
        (`compile = torch.compile`), and all of them agree. `X = None` beside an import does not count:
        code that uses X then fails anyway.
        """
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        base = self._qualified_name(node) if isinstance(node, ast.Name) else None
        return None if base is None else ".".join([base, *reversed(attributes)])

    def is_builtin(self, node: ast.expr, name: str) -> bool:
        """True when `node` is a bare `name` that nothing in the file rebinds.

        With `from m import *` in the file, the few names that array libraries export are not certain.
        """
        return isinstance(node, ast.Name) and node.id == name and not self.bindings(name, node)

    def single_definition(self, node: ast.expr) -> Binding | None:
        """The one binding of a bare name, None when there are several or none."""
        if not isinstance(node, ast.Name):
            return None
        found = self.bindings(node.id, node)
        return found[0] if len(found) == 1 else None

    def _qualified_name(self, node: ast.Name) -> str | None:
        scope, bindings = self.lookup(node.id, node)
        key = (scope, node.id)
        if key not in self._qualified:
            self._qualified[key] = None  # an alias of itself means nothing
            found = {self._meaning(b) for b in bindings if not _assigns_none(b)}
            self._qualified[key] = found.pop() if len(found) == 1 else None
        return self._qualified[key]

    def _meaning(self, binding: Binding) -> str | None:
        statement = binding.statement
        if isinstance(statement, ast.Assign) and binding.node in statement.targets:
            return self.qualified(statement.value)
        return binding.qualified

    def _star_bindings(self, name: str) -> list[Binding]:
        stars = self._tables[self.source.tree].bindings.get("*", [])
        if not stars or (name in _BUILTINS and name not in _EXPORTED_BY_ARRAY_LIBRARIES):
            return []
        if name not in self._from_stars:
            self._from_stars[name] = [
                Binding(name, b.node, b.statement, (b.qualified or "").removesuffix("*") + name) for b in stars
            ]
        return self._from_stars[name]

    def _collect(self) -> None:
        """One walk over the file, without recursion: deep trees are common in generated code."""
        module, scopes = self.source.tree, self._scopes
        pending: list[tuple[ast.AST, Scope, ast.AST]] = [(child, module, module) for child in reversed(module.body)]
        while pending:
            node, scope, statement = pending.pop()
            scopes[node] = scope
            kind = node.__class__
            if kind in _LEAVES:  # most nodes
                if isinstance(node, ast.Name) and node.ctx.__class__ is not ast.Load:
                    self._bind(node, scope, statement)
                continue
            if isinstance(node, ast.stmt):
                statement = node
            inner = children(node)
            inner.reverse()
            if kind in _BINDERS:
                self._bind(node, scope, statement)
            if kind in _CHANGES_SCOPE:
                pending.extend([(child, self._scope_inside(node, child, scope), statement) for child in inner])
            else:
                pending.extend([(child, scope, statement) for child in inner])

    def _scope_inside(self, node: ast.AST, child: ast.AST, scope: Scope) -> Scope:
        if isinstance(node, _Comprehension):
            return node
        if isinstance(node, ast.NamedExpr) and child is node.target:  # binds outside the comprehensions around it
            while isinstance(scope, _Comprehension):
                scope = self._scopes[scope]
            return scope
        if isinstance(node, FunctionNode | ast.ClassDef):
            return scope if evaluated_outside(node, child) else node
        if isinstance(node, ast.comprehension) and isinstance(scope, _Comprehension):
            first = node is scope.generators[0] and child is node.iter
            return self._scopes[scope] if first else scope
        return scope

    def _bind(self, node: ast.AST, scope: Scope, statement: ast.AST) -> None:
        if isinstance(node, Scope):
            self._tables[node] = _Table()
        if isinstance(node, FunctionNode):
            for parameter in _parameters(node.args):
                self._add(node, Binding(parameter.arg, parameter, statement))
        elif isinstance(node, ast.Global | ast.Nonlocal):
            kind = "global" if isinstance(node, ast.Global) else "nonlocal"
            self._tables[scope].outer.update(dict.fromkeys(node.names, kind))
        for name, binder, qualified in _names_bound_by(node):
            self._add(scope, Binding(name, binder, statement, qualified))

    def _add(self, scope: ast.AST, binding: Binding) -> None:
        self._tables[scope].bindings.setdefault(binding.name, []).append(binding)

    def _move_outer_bindings(self) -> None:
        """A store under `global x` binds the module's x, one under `nonlocal x` an outer function's."""
        for scope, table in self._tables.items():
            for name, kind in table.outer.items():
                owner = self._function_binding(name, scope) if kind == "nonlocal" else self.source.tree
                if owner is not scope:
                    for binding in table.bindings.pop(name, []):
                        self._add(owner, binding)

    def _function_binding(self, name: str, scope: ast.AST) -> ast.AST:
        while not isinstance(scope, ast.Module):
            scope = self._scopes[scope]
            if isinstance(scope, FunctionNode) and name in self._tables[scope].bindings:
                return scope
        return self.source.tree


def _parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from arguments.posonlyargs
    yield from arguments.args
    if arguments.vararg:
        yield arguments.vararg
    yield from arguments.kwonlyargs
    if arguments.kwarg:
        yield arguments.kwarg


def _assigns_none(binding: Binding) -> bool:
    statement = binding.statement
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return False
    return isinstance(statement.value, ast.Constant) and statement.value.value is None


def _names_bound_by(node: ast.AST) -> Iterator[tuple[str, ast.AST, str | None]]:
    """The names that a node binds by itself: name, binding node, and the dotted name if it is an import."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id, node, None
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name, node, None
    elif isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.split(".")[0]
            yield (alias.asname, node, alias.name) if alias.asname else (top, node, top)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            target = "." * node.level + ".".join(part for part in (node.module, alias.name) if part)
            yield alias.asname or alias.name, node, target
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        if node.name:
            yield node.name, node, None
    elif isinstance(node, ast.MatchMapping):
        if node.rest:
            yield node.rest, node, None
    elif isinstance(node, _TYPE_PARAMETERS):
        yield str(vars(node)["name"]), node, None
