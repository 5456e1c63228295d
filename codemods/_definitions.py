"""What a name or an attribute was defined as, followed through imports to the other given files."""

from __future__ import annotations

import ast
from functools import lru_cache

from gbfix.analysis.modules import Modules
from gbfix.analysis.names import Binding
from gbfix.analysis.project import FileView, Project
from gbfix.analysis.source import Function
from gbfix.engine.dataclass import dataclass


@dataclass(frozen=True)
class Definition:
    """One place that gives a meaning: a def, a class, an assigned expression or an `ast.arg`, or only a dotted name.

    dotted: the name of something outside the given files, where it leads there; node is then None.
    """

    view: FileView
    node: ast.AST | None = None
    dotted: str = ""


_LONGEST_WAY = 6


def definitions(view: FileView, node: ast.expr, depth: int = 0) -> tuple[Definition, ...]:
    """Everything that a name, `self.name` or `module.name` may have been defined as; empty when that is not known."""
    if depth > _LONGEST_WAY:
        return ()
    dotted = view.names.qualified(node) if isinstance(node, ast.Name | ast.Attribute) else None
    if dotted is not None:
        return _imported(view, dotted, depth)
    if isinstance(node, ast.Name):
        return _all(view, view.names.bindings(node.id, node), depth)
    if isinstance(node, ast.Attribute):
        owner = owner_of(view, node)
        if owner is not None:
            return attribute_definitions(view, owner, node.attr, depth)
    return ()


def owner_of(view: FileView, node: ast.Attribute) -> ast.ClassDef | None:
    """The class whose attribute `self.name`, `cls.name` or `Class.name` is; None for anything else."""
    if not isinstance(node.value, ast.Name):
        return None
    function = view.source.enclosing_function(node)
    while function is not None:
        if function.owner is not None and function.parameters and function.parameters[0].arg == node.value.id:
            return function.owner
        function = view.source.enclosing_function(function.node)
    binding = view.names.single_definition(node.value)
    return binding.node if binding is not None and isinstance(binding.node, ast.ClassDef) else None


def attribute_definitions(view: FileView, owner: ast.ClassDef, name: str, depth: int = 0) -> tuple[Definition, ...]:
    """What a class of the file, or a base class among the given files, sets an attribute to."""
    found: list[Definition] = []
    for binding in view.names.local_bindings(owner).get(name, ()):
        found += _one(view, binding, depth)
    for function in view.source.functions:
        if function.owner is owner:
            found += [Definition(view, value) for value in _stored(function, name)]
    for base in owner.bases if not found else ():
        for definition in definitions(view, base, depth + 1):
            if isinstance(definition.node, ast.ClassDef):
                found += attribute_definitions(definition.view, definition.node, name, depth + 1)
    return tuple(found)


def _stored(function: Function, name: str) -> list[ast.expr]:
    """The values that a method assigns to an attribute of its first parameter."""
    receiver = function.parameters[0].arg if function.parameters else ""
    found: list[ast.expr] = []
    for node in ast.walk(function.node):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [node.value for target in targets if _is_attribute(target, receiver, name)]
    return found


def _is_attribute(node: ast.expr, receiver: str, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == receiver
    )


def _all(view: FileView, bindings: list[Binding], depth: int) -> tuple[Definition, ...]:
    """The definitions behind some bindings; empty when one of them is not followed."""
    found: list[Definition] = []
    for binding in bindings:
        one = _one(view, binding, depth)
        if not one:
            return ()
        found += one
    return tuple(found)


def _one(view: FileView, binding: Binding, depth: int) -> tuple[Definition, ...]:
    if binding.qualified is not None:
        return _imported(view, binding.qualified, depth)
    if isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.arg):
        return (Definition(view, binding.node),)
    match binding.statement:
        case ast.Assign(targets=targets, value=value) if binding.node in targets:
            pass
        case ast.AnnAssign(value=ast.expr() as value):
            pass
        case _:
            return ()
    if isinstance(value, ast.Name | ast.Attribute):
        return definitions(view, value, depth + 1) or (Definition(view, value),)
    return (Definition(view, value),)


def _imported(view: FileView, dotted: str, depth: int) -> tuple[Definition, ...]:
    """The definitions of an imported name in the given file that has it, else the name itself."""
    target = _modules(view.project).resolve(view.source.path, dotted)
    if target is None:
        return (Definition(view, dotted=dotted),)
    path, rest = target
    other = view.project.view(path)
    if len(rest) != 1 or depth > _LONGEST_WAY:
        return ()
    return _all(other, other.names.local_bindings(other.source.tree).get(rest[0], []), depth + 1)


@lru_cache(maxsize=4)
def _modules(project: Project) -> Modules:
    def binds(path: str, name: str) -> bool:
        names = project.names_of(path)
        return name in names.local_bindings(names.source.tree)

    return Modules(project.files, binds)
