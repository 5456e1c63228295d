"""What the callers of a function pass, as far as the given files show it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gbfix.analysis.modules import Modules
from gbfix.analysis.names import Binding
from gbfix.analysis.source import Function, SourceFile
from gbfix.analysis.values import Kind, Value
from gbfix.engine.dataclass import dataclass

if TYPE_CHECKING:
    from gbfix.analysis.project import FileView, Project

Evaluate = Callable[["FileView", ast.expr], Value]
"""Gives the facts about an expression at its place in a file."""


@dataclass(frozen=True)
class Callers:
    """The calls of one function in the given files.

    tensors: the parameters for which every call passes a tensor. count: how many calls there are. complete: nobody
    else can call it, since the name is private or local and is used for nothing but these calls.
    """

    tensors: frozenset[str] = frozenset()
    count: int = 0
    complete: bool = False


def callers_of(view: FileView, function: Function, evaluate: Evaluate) -> Callers:
    """The calls of a plain function; an empty `Callers` for methods and for functions that are handed around."""
    node = function.node
    if isinstance(node, ast.Lambda) or function.owner is not None or node.args.vararg or node.args.kwarg:
        return Callers()
    calls: list[tuple[FileView, ast.Call]] = []
    for where, use in uses_of(view, function):
        call = where.source.parents.get(use)
        if not isinstance(call, ast.Call) or call.func is not use:
            return Callers()
        calls.append((where, call))
    arguments_of = [passed(node, call) for _, call in calls]
    if not calls or any(arguments is None for arguments in arguments_of):
        return Callers()
    tensors = set()
    for parameter in function.parameters:
        given = [
            (where, arguments[parameter.arg])
            for (where, _), arguments in zip(calls, arguments_of, strict=True)
            if arguments is not None and parameter.arg in arguments
        ]
        values = [evaluate(where, argument) for where, argument in given]
        if len(given) == len(calls) and all(value.kind is Kind.TENSOR and not value.assumed for value in values):
            tensors.add(parameter.arg)
    private = node.name.startswith("_") or view.source.enclosing_function(node) is not None
    return Callers(frozenset(tensors), len(calls), private)


def uses_of(view: FileView, function: Function) -> Iterator[tuple[FileView, ast.expr]]:
    """Every load of the function's name, in its file and in the files that import it."""
    assert not isinstance(function.node, ast.Lambda)
    name = function.node.name
    yield from ((view, use) for use in view.names.loads.get(name, ()) if _defined_by(view, use, function))
    if view.source.parents.get(function.node) is view.source.tree:
        for path, local in view.project.importers.of(view.source.path, name):
            other = view.project.view(path)
            yield from ((other, use) for use in other.names.loads.get(local, ()))


def _defined_by(view: FileView, use: ast.Name, function: Function) -> bool:
    return any(binding.node is function.node for binding in view.names.bindings(use.id, use))


def passed(
    callee: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, skipped: int = 0
) -> dict[str, ast.expr] | None:
    """The argument for each parameter that a call gives; None with star arguments.

    skipped: how many parameters the call gives in another way, as that for `self`.
    """
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    positional = [a.arg for a in [*callee.args.posonlyargs, *callee.args.args]][skipped:]
    given = dict(zip(positional, call.args, strict=False))
    given.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    return given


class Importers:
    """Which of the given files import what from which; looked for when it is asked, among those that have the name."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._modules = Modules(project.files, self._binds)
        self._found: dict[tuple[str, str], list[tuple[str, str]]] = {}

    def of(self, path: str, name: str) -> list[tuple[str, str]]:
        """The files that import a top-level name of a file, and what they call it."""
        key = (path, name)
        if key not in self._found:
            self._found[key] = [
                (other, local)
                for other, source in sorted(self._project.files.naming(name))
                if _may_import(source, name)
                for local, bindings in self._project.names_of(other).local_bindings(source.tree).items()
                for binding in bindings
                if self._target(other, binding) == key
            ]
        return self._found[key]

    def defining(self, path: str, local: str) -> list[tuple[str, str]]:
        """The files and the names in them that a file imports under a name."""
        names = self._project.names_of(path)
        bindings = names.local_bindings(names.source.tree).get(local, ())
        targets = (self._target(path, binding) for binding in bindings)
        return [target for target in targets if target is not None]

    def _target(self, path: str, binding: Binding) -> tuple[str, str] | None:
        target = self._modules.resolve(path, binding.qualified) if binding.qualified else None
        return (target[0], target[1][0]) if target is not None and len(target[1]) == 1 else None

    def _binds(self, path: str, name: str) -> bool:
        names = self._project.names_of(path)
        return name in names.local_bindings(names.source.tree)


def _may_import(source: SourceFile, name: str) -> bool:
    imports = (node for node in source.nodes if isinstance(node, ast.Import | ast.ImportFrom))
    return any(name in alias.name.split(".") for node in imports for alias in node.names)
