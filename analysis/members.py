"""What the attributes of a module hold, read from its `__init__`."""

from __future__ import annotations

import ast

from gbfix.analysis import values as v
from gbfix.analysis.names import Names
from gbfix.analysis.project import FileView
from gbfix.analysis.values import Kind, Value


def class_members(view: FileView, owner: ast.ClassDef) -> dict[str, Value]:
    """The attributes that only `__init__` sets, each once and not under a condition, with what they hold."""
    cache = view.class_members
    if owner not in cache:
        cache[owner] = _class_members(view, owner)
    return cache[owner]


def _class_members(view: FileView, owner: ast.ClassDef) -> dict[str, Value]:
    stores: dict[str, int] = {}
    for part in (owner, *subclasses(view, owner)):
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
                stores[node.attr] = stores.get(node.attr, 0) + 1
    found: dict[str, Value] = {}
    for function in view.source.functions:
        if function.owner is not owner or function.name != "__init__" or isinstance(function.node, ast.Lambda):
            continue
        receiver = function.parameters[0].arg if function.parameters else ""
        for statement in function.node.body:
            match statement:
                case ast.Assign(targets=[ast.Attribute(attr=name) as target], value=value) if _is_named(
                    target.value, receiver
                ):
                    if stores.get(name) == 1:
                        found[name] = _member_value(view.names, name, value)
                case ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(attr="register_buffer") as func,
                        args=[ast.Constant(value=str(name)), held, *_],
                    )
                ):
                    empty = isinstance(held, ast.Constant)
                    if _is_named(func.value, receiver) and name not in stores and not empty:
                        found[name] = v.opaque_tensor(v.term("self", name), None, kind=Kind.TENSOR)
    return found


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def subclasses(view: FileView, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """The classes of the file that have this one among their bases, as far as names show it."""
    classes = [node for node in view.source.nodes if isinstance(node, ast.ClassDef)]
    found = [owner]
    for _ in classes:
        grown = [one for one in classes if one in found or any(_names_one(base, found) for base in one.bases)]
        if len(grown) == len(found):
            break
        found = grown
    return [one for one in found if one is not owner]


def _names_one(base: ast.expr, classes: list[ast.ClassDef]) -> bool:
    named = {part.id for part in ast.walk(base) if isinstance(part, ast.Name)}
    named |= {part.attr for part in ast.walk(base) if isinstance(part, ast.Attribute)}
    return any(one.name in named for one in classes)


def _keeps_its_input(call: ast.Call) -> bool:
    """True when a module is made without an option that makes it write: `inplace=True`, `max_norm=`."""
    if any(keyword.arg in (None, "inplace", "max_norm") for keyword in call.keywords):
        return False
    return not any(isinstance(a, ast.Starred) or (isinstance(a, ast.Constant) and a.value is True) for a in call.args)


def _member_value(names: Names, name: str, value: ast.expr) -> Value:
    token = v.term("self", name)
    if isinstance(value, ast.Call):
        qualified = names.qualified(value.func) or ""
        if qualified in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
            return v.opaque_tensor(token, f"self.{name}", kind=Kind.TENSOR)
        if qualified.startswith("torch.nn."):
            return Value(Kind.MODULE, class_name=qualified if _keeps_its_input(value) else None)
        return v.opaque_tensor(token, None, kind=Kind.MAYBE)
    # A number set here may have been replaced by a tensor from outside.
    return v.opaque_tensor(token, None, kind=Kind.MAYBE)
