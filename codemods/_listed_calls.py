"""Which function a call runs, and which calls run a function, where the source of one file shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.callers import passed, uses_of
from gbfix.analysis.members import subclasses
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation

RUNS = "the call runs the function that the source shows"


@dataclass(frozen=True)
class KnownCall:
    """A call of a function. bound: it is the method of an object, whose first parameter is the object."""

    view: FileView
    caller: Function
    node: ast.Call
    bound: bool


@dataclass(frozen=True)
class Callee:
    """What a call runs. bound: its first parameter is the object that has it."""

    function: Function
    bound: bool


def arguments_of(
    function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, *, bound: bool
) -> dict[str, ast.expr] | None:
    """The argument for each parameter that a call gives; None where a star hides some."""
    return None if function.args.vararg else passed(function, call, skipped=1 if bound else 0)


def callee_of(view: FileView, caller: Function, call: ast.Call) -> Callee | None:
    """The plain function of the file, or the method of the caller's own class, that a call runs."""
    match call.func:
        case ast.Name():
            binding = view.names.single_definition(call.func)
            node = binding.node if binding is not None else None
            if not isinstance(node, ast.FunctionDef) or view.source.parents[node] is not view.source.tree:
                return None
            return None if node.decorator_list else Callee(view.source.function_of_node[node], False)
        case ast.Attribute(value=ast.Name() as receiver, attr=name) if _is_self(view, caller, receiver):
            return _method(view, caller, name)
    return None


def _is_self(view: FileView, function: Function, node: ast.Name) -> bool:
    if function.owner is None or isinstance(function.node, ast.Lambda):
        return False
    for decorator in function.node.decorator_list:
        if any(view.names.is_builtin(decorator, kind) for kind in ("staticmethod", "classmethod")):
            return False
    first = function.parameters[:1]
    bindings = view.names.bindings(node.id, node)
    return len(bindings) == 1 and [binding.node for binding in bindings] == first


def _method(view: FileView, caller: Function, name: str) -> Callee | None:
    owner = caller.owner
    assert owner is not None
    found = [one for one in view.source.functions if one.owner is owner and one.name == name]
    node = found[0].node if len(found) == 1 and name not in _set_in_body(owner) else None
    if not isinstance(node, ast.FunctionDef):
        return None
    static = len(node.decorator_list) == 1 and view.names.is_builtin(node.decorator_list[0], "staticmethod")
    if node.decorator_list and not static:
        return None
    return Callee(found[0], not static)


def runs(view: FileView, callee: Callee) -> Obligation:
    """Whether a call runs this function, and not the method of a subclass."""
    owner, name, line = callee.function.owner, callee.function.name, callee.function.node.lineno
    if owner is None:
        return Obligation(RUNS, Discharge.PROVED, f"{name} is a function of this file", line)
    for part in view.source.nodes:
        if isinstance(part, ast.Attribute) and part.attr == name and not isinstance(part.ctx, ast.Load):
            return Obligation(RUNS, Discharge.VIOLATED, f"{name} is also set to something else", part.lineno)
    for other in subclasses(view, owner):
        for one in other.body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name:
                return Obligation(RUNS, Discharge.VIOLATED, f"{other.name} has another {name}", one.lineno)
    reason = f"no class of this file replaces {name}; nothing shows it of other files"
    return Obligation(RUNS, Discharge.ASSUMED, reason, line)


def _set_in_body(owner: ast.ClassDef) -> set[str]:
    targets = [target for one in owner.body if isinstance(one, ast.Assign) for target in one.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


# -- the other way round ---------------------------------------------------------------------


def known_calls(view: FileView, function: Function) -> list[KnownCall]:
    """Every call of a function that the given files show; nothing where it is handed around, or inherited."""
    node = function.node
    if not isinstance(node, ast.FunctionDef):
        return []
    if function.owner is None:
        return _of_function(view, function)
    if subclasses(view, function.owner):
        return []
    static = any(view.names.is_builtin(one, "staticmethod") for one in node.decorator_list)
    found = [*_on_self(view, function, bound=not static)]
    found += _of_objects(view, function) if node.name == "forward" else []
    known = {call.node.func for call in found}
    for part in view.source.nodes:
        if isinstance(part, ast.Attribute) and part.attr == node.name != "forward" and part not in known:
            return []
    return found


def _of_function(view: FileView, function: Function) -> list[KnownCall]:
    found = []
    for where, use in uses_of(view, function):
        call = where.source.parents.get(use)
        caller = where.source.enclosing_function(use)
        if not isinstance(call, ast.Call) or call.func is not use or caller is None:
            return []
        found.append(KnownCall(where, caller, call, False))
    return found


def _on_self(view: FileView, function: Function, *, bound: bool) -> Iterator[KnownCall]:
    """`self.method(...)` in the class itself."""
    assert function.owner is not None
    for part in ast.walk(function.owner):
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name() as receiver, attr=name)) if name == function.name:
                caller = view.source.enclosing_function(part)
                if caller is not None and caller.owner is function.owner and _is_self(view, caller, receiver):
                    yield KnownCall(view, caller, part, bound)


def _of_objects(view: FileView, function: Function) -> list[KnownCall]:
    """`self.part(...)`, where `self.part` is made as an object of the class; nothing where others are made."""
    made = []
    for part in view.source.nodes:
        if isinstance(part, ast.Call) and _names_class(view, part.func, function.owner):
            parent = view.source.parents[part]
            match parent:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)]):
                    made.append((_class_around(view, parent), attribute))
                case _:
                    return []
    found = []
    for owner, attribute in made:
        for part in ast.walk(owner) if owner is not None else ():
            match part:
                case ast.Call(func=ast.Attribute(value=ast.Name() as receiver, attr=name)) if name == attribute:
                    caller = view.source.enclosing_function(part)
                    if caller is None or caller.owner is not owner or not _is_self(view, caller, receiver):
                        return []
                    found.append(KnownCall(view, caller, part, True))
    return found


def _names_class(view: FileView, node: ast.expr, owner: ast.ClassDef | None) -> bool:
    binding = view.names.single_definition(node)
    return binding is not None and binding.node is owner


def _class_around(view: FileView, node: ast.AST) -> ast.ClassDef | None:
    function = view.source.enclosing_function(node)
    return function.owner if function is not None else None
