"""Recognises `if mask.any(): x = x.masked_fill(mask, value)`: a guard that only saves work."""

from __future__ import annotations

import ast

from gbfix.analysis.names import Names


def guards_its_own_mask(names: Names, node: ast.If) -> bool:
    """True when the branch fills where a mask is true, and its condition asks whether that mask is true anywhere."""
    if node.orelse or len(node.body) != 1:
        return False
    statement = node.body[0]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    filled = _fill(names, statement.value)
    asked = _any_of(names, node.test)
    if not isinstance(target, ast.Name) or filled is None or asked is None:
        return False
    base, mask = filled
    return isinstance(base, ast.Name) and base.id == target.id and ast.dump(mask) == ast.dump(asked)


def _fill(names: Names, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The tensor and the mask of a fill; None for anything else."""
    match node:
        case ast.Call(func=ast.Attribute(value=base, attr="masked_fill"), args=[mask, _], keywords=[]) if (
            names.qualified(base) is None
        ):
            return base, mask
        case ast.Call(func=ast.Attribute(value=base, attr="masked_fill"), args=[mask], keywords=[keyword]) if (
            keyword.arg == "value" and names.qualified(base) is None
        ):
            return base, mask
        case ast.Call(func=func, args=[base, mask, _], keywords=[]) if names.qualified(func) == "torch.masked_fill":
            return base, mask
        case ast.Call(func=func, args=[mask, _, base], keywords=[]) if names.qualified(func) == "torch.where":
            return base, mask
        case _:
            return None


def _any_of(names: Names, test: ast.expr) -> ast.expr | None:
    """The mask that a test asks for a true element; None for anything else."""
    match test:
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            return _any_of(names, inner)
        case ast.Call(func=ast.Name(id="bool") as func, args=[inner], keywords=[]) if names.is_builtin(func, "bool"):
            return _any_of(names, inner)
        case ast.Compare(left=left, ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]):
            return _reduced(names, left, ("sum", "count_nonzero"))
        case _:
            return _reduced(names, test, ("any", "sum", "count_nonzero"))


def _reduced(names: Names, node: ast.expr, reductions: tuple[str, ...]) -> ast.expr | None:
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            return _reduced(names, inner, reductions)
        case ast.Call(func=func, args=[mask], keywords=[]) if names.qualified(func) in {
            f"torch.{name}" for name in reductions
        }:
            return mask
        case ast.Call(func=ast.Attribute(value=mask, attr=name), args=[], keywords=[]) if name in reductions:
            return mask
        case _:
            return None
