"""Names that hold lists, tuples and dicts of constants, whose text needs no tensor."""

from __future__ import annotations

import ast

from gbfix.analysis.flow import Flow
from gbfix.analysis.literals import is_literal
from gbfix.analysis.names import Names

_ADDING = frozenset({"append", "extend", "insert"})
_HARMLESS = frozenset({"pop", "clear", "sort", "reverse", "copy", "index", "count", "keys", "values", "items", "get"})


def is_constant_container(flow: Flow, node: ast.expr) -> bool:
    """True for a display of literals, and for a local name that only ever holds one and gets nothing but literals."""
    if _is_display(node):
        return True
    if not isinstance(node, ast.Name) or not flow.context.is_local(node.id):
        return False
    names = flow.context.names
    bindings = names.bindings(node.id, node)
    values = [getattr(binding.statement, "value", None) for binding in bindings if _assigns(binding.statement)]
    return (
        len(values) == len(bindings)
        and all(isinstance(value, ast.expr) and _is_display(value) for value in values)
        and all(
            _keeps_constant(flow, names, use)
            for use in names.loads.get(node.id, ())
            if names.bindings(use.id, use) == bindings
        )
    )


def is_constant_text(node: ast.expr) -> bool:
    """True for a literal whose text is always the same."""
    return is_literal(node) and not any(isinstance(part, ast.Set | ast.Call) for part in ast.walk(node))


def _is_display(node: ast.expr) -> bool:
    # The text of a set depends on the order that hashing gives.
    return isinstance(node, ast.List | ast.Tuple | ast.Dict) and is_constant_text(node)


def _assigns(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets)


def _keeps_constant(flow: Flow, names: Names, use: ast.Name) -> bool:
    """True for a use that puts nothing but literals in: a read by index, a known method, an argument of a builtin."""
    source = flow.context.source
    parent = source.parents.get(use)
    call = source.parents.get(parent) if parent is not None else None
    match parent:
        case ast.Attribute(attr=method) if isinstance(call, ast.Call) and call.func is parent:
            return method in _HARMLESS or (method in _ADDING and all(is_literal(argument) for argument in call.args))
        case ast.Subscript(value=value, ctx=ast.Load()):
            return value is use
        case ast.Subscript(ctx=ast.Store()) if isinstance(call, ast.Assign):
            return is_literal(call.value)
        case ast.Call(func=ast.Name() as func):
            return names.is_builtin(func, func.id)
        case ast.FormattedValue() | ast.For() | ast.Compare():
            return True
        case _:
            return False
