"""What the functions of one file do with callables: calls, returns, stores. One walk per file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import cached_property
from typing import Any

from gbfix.analysis.names import Names, Scope
from gbfix.analysis.source import FunctionNode
from gbfix.engine.dataclass import dataclass

Holder = ast.Module | FunctionNode
"""What runs code: a function, or the module."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
"""What decorators can stand on."""

_GROWING = frozenset({"append", "add", "appendleft", "insert", "extend", "update", "setdefault"})
_REGISTERING = frozenset({"add_module", "register_module", "setattr"})
COMPILING = frozenset({"compile", "optimize", "optimize_assert"})
"""The names under which libraries compile, whatever they compile."""
ANY_ATTRIBUTE = "*"
"""Stands for an attribute whose name is computed."""


@dataclass(frozen=True)
class Store:
    """An expression that a method stores in an attribute of its first parameter, or an element of it."""

    holder: Holder
    value: ast.expr | None
    element: bool = False
    annotation: ast.expr | None = None


@dataclass(eq=False)
class Actions:
    """What one holder does itself, without the functions inside it."""

    calls: list[ast.Call] = field(default_factory=list)
    attributes: list[ast.Attribute] = field(default_factory=list)
    withs: list[ast.expr] = field(default_factory=list)
    iterated: list[ast.expr] = field(default_factory=list)
    returned: list[ast.expr] = field(default_factory=list)
    decorated: list[Definition] = field(default_factory=list)
    stores: list[tuple[ast.Attribute, ast.expr]] = field(default_factory=list)
    """Stores to attributes of anything but the first parameter of a method."""


class Outline:
    """The actions of each holder of a file, and where names and attributes get their values."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.actions: dict[Holder, Actions] = {}
        self.classes: list[ast.ClassDef] = []
        self.assigned: dict[ast.AST, list[tuple[ast.expr, bool]]] = {}
        """For a stored name, the expressions it gets; True when it gets an element of it."""
        self.annotations: dict[ast.AST, ast.expr] = {}
        self.grown: dict[tuple[Scope, str], list[tuple[ast.expr, bool]]] = {}
        """For a name, what `name.append(x)` and `name[k] = x` put into it."""
        self.stores: dict[tuple[ast.ClassDef, str], list[Store]] = {}
        self.mentions_compile = False
        self.attribute_names: set[str] = set()
        """Names that an attribute of an object of this file can have."""
        self.properties: set[str] = set()
        self._holders: dict[Scope, Holder] = {}
        for node, scope in names.nodes():
            visit = _VISITORS.get(type(node))
            if visit is not None:
                visit(self, node, scope)

    def holder_of(self, scope: Scope) -> Holder:
        """The function, or the module, that runs the code of a scope."""
        if scope not in self._holders:
            inner = scope
            while not isinstance(inner, Holder):
                inner = self.names.scope_of(inner)
            self._holders[scope] = inner
        return self._holders[scope]

    @cached_property
    def users(self) -> dict[str, dict[Holder, None]]:
        """For each name that is read, the holders that read it."""
        found: dict[str, dict[Holder, None]] = {}
        for name, nodes in self.names.loads.items():
            found[name] = dict.fromkeys(self.holder_of(self.names.scope_of(node)) for node in nodes)
        return found

    @cached_property
    def attribute_users(self) -> dict[str, list[tuple[Holder, ast.expr]]]:
        """For each attribute that is read, the holders that read it, and of what; text that may be its name counts."""
        found: dict[str, list[tuple[Holder, ast.expr]]] = {}
        for node, scope in self.names.nodes():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.attr, []).append((self.holder_of(scope), node.value))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                found.setdefault(node.value, []).append((self.holder_of(scope), node))  # getattr(x, "name")
        return found

    @cached_property
    def storing(self) -> dict[str, dict[Holder, None]]:
        """For each attribute, the holders that store it in something else than their first parameter."""
        found: dict[str, dict[Holder, None]] = {}
        for holder, actions in self.actions.items():
            for target, _ in actions.stores:
                found.setdefault(target.attr, {})[holder] = None
        return found

    @cached_property
    def storing_in_self(self) -> dict[Holder, list[str]]:
        """For each method, the attributes of its first parameter that it stores."""
        found: dict[Holder, list[str]] = {}
        for (_, attribute), stores in self.stores.items():
            for store in stores:
                found.setdefault(store.holder, []).append(attribute)
        return found

    @cached_property
    def renamed(self) -> dict[str, list[str]]:
        """For each name that is imported under another one, that other one."""
        found: dict[str, list[str]] = {}
        for node, _ in self.names.nodes():
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    if alias.asname is not None and alias.asname != alias.name:
                        found.setdefault(alias.name.rpartition(".")[2], []).append(alias.asname)
        return found

    def actions_of(self, holder: Holder) -> Actions:
        """What a holder does; empty for one that does nothing of interest."""
        return self.actions.setdefault(holder, Actions())

    def method_class(self, node: ast.expr) -> ast.ClassDef | None:
        """The class of the method whose first parameter, usually `self`, a name inside that method means."""
        if not isinstance(node, ast.Name):
            return None
        function, bindings = self.names.lookup(node.id, node)
        owner = self.names.scope_of(function)
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or not isinstance(owner, ast.ClassDef):
            return None
        first = next(iter([*function.args.posonlyargs, *function.args.args]), None)
        return owner if first is not None and [binding.node for binding in bindings] == [first] else None

    def _actions_at(self, scope: Scope) -> Actions:
        return self.actions_of(self.holder_of(scope))

    def _visit_call(self, node: ast.Call, scope: Scope) -> None:
        self._actions_at(scope).calls.append(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _GROWING and node.args:
            is_element = function.attr in ("extend", "update")
            self._grow(function.value, node.args[-1], is_element, scope)
        elif isinstance(function, ast.Attribute) and function.attr in _REGISTERING and len(node.args) > 1:
            self._register(function.value, node.args[0], node.args[1], scope)
        elif self.names.is_builtin(function, "setattr") and len(node.args) > 2:
            self._register(node.args[0], node.args[1], node.args[2], scope)
        elif self.names.is_builtin(function, "getattr") and len(node.args) > 1:
            name = node.args[1]
            self.mentions_compile |= isinstance(name, ast.Constant) and name.value in COMPILING

    def _visit_attribute(self, node: ast.Attribute, scope: Scope) -> None:
        self._notice(node.attr, node)
        if isinstance(node.ctx, ast.Load):
            self._actions_at(scope).attributes.append(node)

    def _visit_name(self, node: ast.Name, scope: Scope) -> None:
        self._notice(node.id, node)
        if isinstance(scope, ast.ClassDef) and isinstance(node.ctx, ast.Store):
            self.attribute_names.add(node.id)

    def _visit_import(self, node: ast.ImportFrom, _scope: Scope) -> None:
        for alias in node.names:
            if alias.name in COMPILING or (alias.name == "*" and node.module == "torch"):
                self.mentions_compile = True

    def _notice(self, name: str, node: ast.expr) -> None:
        if name in COMPILING and not self.mentions_compile:
            qualified = self.names.qualified(node)
            self.mentions_compile = qualified is None or not qualified.startswith(("re.", "regex."))

    def _visit_assign(self, node: ast.Assign, scope: Scope) -> None:
        for target in node.targets:
            self._assign(target, node.value, False, scope)

    def _visit_annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if isinstance(node.target, ast.Name):
            self.annotations[node.target] = node.annotation
        elif isinstance(node.target, ast.Attribute):
            self._store(node.target.value, node.target.attr, Store(self.holder_of(scope), None, False, node.annotation))
        if node.value is not None:
            self._assign(node.target, node.value, False, scope)

    def _visit_augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        self._assign(node.target, node.value, True, scope)

    def _visit_walrus(self, node: ast.NamedExpr, scope: Scope) -> None:
        self._assign(node.target, node.value, False, scope)

    def _visit_loop(self, node: ast.For | ast.AsyncFor | ast.comprehension, scope: Scope) -> None:
        self._actions_at(scope).iterated.append(node.iter)
        self._assign(node.target, node.iter, True, scope)

    def _visit_with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        for item in node.items:
            self._actions_at(scope).withs.append(item.context_expr)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, item.context_expr, False, scope)

    def _visit_subscript(self, node: ast.Subscript, scope: Scope) -> None:
        if isinstance(node.ctx, ast.Load):
            self._actions_at(scope).iterated.append(node.value)

    def _visit_returned(self, node: ast.Return | ast.Yield | ast.YieldFrom, scope: Scope) -> None:
        if node.value is not None:
            self._actions_at(scope).returned.append(node.value)

    def _visit_lambda(self, node: ast.Lambda, _scope: Scope) -> None:
        self.actions_of(node).returned.append(node.body)

    def _visit_definition(self, node: Definition, scope: Scope) -> None:
        self.attribute_names.add(node.name)
        if node.decorator_list:
            self._actions_at(scope).decorated.append(node)
            if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
                self.properties.add(node.name)
        if isinstance(node, ast.ClassDef):
            self.classes.append(node)

    def _assign(self, target: ast.expr, value: ast.expr, is_element: bool, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            self.assigned.setdefault(target, []).append((value, is_element))
        elif isinstance(target, ast.Starred):
            self._assign(target.value, value, True, scope)
        elif isinstance(target, ast.Tuple | ast.List):
            for part, part_value in _unpacked(target, value, is_element):
                self._assign(part, value if part_value is None else part_value, part_value is None, scope)
        elif isinstance(target, ast.Attribute):
            holder = self.holder_of(scope)
            if not self._store(target.value, target.attr, Store(holder, value, is_element)):
                self.actions_of(holder).stores.append((target, value))
        elif isinstance(target, ast.Subscript):
            self._grow(target.value, value, is_element, scope)

    def _grow(self, container: ast.expr, value: ast.expr, is_element: bool, scope: Scope) -> None:
        if isinstance(container, ast.Name):
            self.grown.setdefault((self.names.lookup(container.id, container)[0], container.id), []).append(
                (value, is_element)
            )
        elif isinstance(container, ast.Attribute):
            self._store(container.value, container.attr, Store(self.holder_of(scope), value, is_element))

    def _register(self, owner: ast.expr, name: ast.expr, value: ast.expr, scope: Scope) -> None:
        is_constant = isinstance(name, ast.Constant) and isinstance(name.value, str)
        attribute = str(name.value) if isinstance(name, ast.Constant) and is_constant else ANY_ATTRIBUTE
        self._store(owner, attribute, Store(self.holder_of(scope), value))

    def _store(self, owner: ast.expr, attribute: str, store: Store) -> bool:
        self.attribute_names.add(attribute)
        owner_class = self.method_class(owner)
        if owner_class is not None:
            self.stores.setdefault((owner_class, attribute), []).append(store)
        return owner_class is not None


def _unpacked(
    target: ast.Tuple | ast.List, value: ast.expr, is_element: bool
) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Each part of a target with the part of a displayed tuple that it gets, None when that is not plain."""
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) and not is_element else []
    is_plain = len(parts) == len(target.elts) and not any(
        isinstance(part, ast.Starred) for part in [*parts, *target.elts]
    )
    for index, part in enumerate(target.elts):
        yield part, parts[index] if is_plain else None


_VISITORS: dict[type[ast.AST], Callable[[Outline, Any, Scope], None]] = {
    ast.Call: Outline._visit_call,
    ast.Attribute: Outline._visit_attribute,
    ast.Name: Outline._visit_name,
    ast.ImportFrom: Outline._visit_import,
    ast.Assign: Outline._visit_assign,
    ast.AnnAssign: Outline._visit_annotated,
    ast.AugAssign: Outline._visit_augmented,
    ast.NamedExpr: Outline._visit_walrus,
    ast.For: Outline._visit_loop,
    ast.AsyncFor: Outline._visit_loop,
    ast.comprehension: Outline._visit_loop,
    ast.With: Outline._visit_with,
    ast.AsyncWith: Outline._visit_with,
    ast.Subscript: Outline._visit_subscript,
    ast.Return: Outline._visit_returned,
    ast.Yield: Outline._visit_returned,
    ast.YieldFrom: Outline._visit_returned,
    ast.Lambda: Outline._visit_lambda,
    ast.FunctionDef: Outline._visit_definition,
    ast.AsyncFunctionDef: Outline._visit_definition,
    ast.ClassDef: Outline._visit_definition,
}
