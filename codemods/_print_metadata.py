"""Values of a message whose text does not depend on what tensors hold: shapes, dtypes, names of types."""

from __future__ import annotations

import ast

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.values import Kind


def is_metadata(flow: Flow, state: State, node: ast.expr) -> bool:
    """True for shapes, dtypes, devices, numbers, and containers and slices of them: text without a tensor's values."""
    match node:
        case ast.Constant():
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(is_metadata(flow, state, part) for part in parts)
        case ast.Dict(keys=keys, values=parts):
            return all(key is not None and is_metadata(flow, state, key) for key in keys) and all(
                is_metadata(flow, state, part) for part in parts
            )
        case ast.Subscript(value=inner):
            return is_metadata(flow, state, inner)
        case ast.Call(func=ast.Name(id="list" | "tuple" as name) as func, args=[inner], keywords=[]):
            return flow.context.names.is_builtin(func, name) and is_metadata(flow, state, inner)
        case _:
            value = flow.evaluate(node, state)[0]
            if value.kind is Kind.NUMBER:
                return value.scalar_of is None
            return value.kind is Kind.OTHER and (value.class_name or "").startswith(("tensor.", "torch."))


def is_text(flow: Flow, node: ast.expr) -> bool:
    """True for `"=" * 20`, `type(x).__name__` and `x.__class__.__name__`."""
    match node:
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mult(), right=ast.Constant(value=int())):
            return True
        case ast.Attribute(value=ast.Call(func=ast.Name(id="type") as func), attr="__name__" | "__qualname__"):
            return flow.context.names.is_builtin(func, "type")
        case ast.Attribute(value=ast.Attribute(attr="__class__"), attr="__name__" | "__qualname__"):
            return True
        case _:
            return False


def asked_for_sizes(node: ast.AST) -> ast.expr | None:
    """The tensor whose shape or sizes an expression is: `x.shape`, `x.size(0)`, `len(x)`."""
    match node:
        case ast.Attribute(value=tensor, attr="shape"):
            return tensor
        case ast.Call(func=ast.Attribute(value=tensor, attr="size" | "numel")):
            return tensor
        case ast.Call(func=ast.Name(id="len"), args=[tensor]):
            return tensor
        case _:
            return None
