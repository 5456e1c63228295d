"""Recognises `if mask.any(): x = x.masked_fill(mask, value)` and `x[mask] = value`: a guard that only saves work."""

from __future__ import annotations

import ast

from gbfix.analysis.names import Names
from gbfix.engine.dataclass import dataclass


@dataclass(frozen=True)
class WrittenFill:
    """A fill in place, `tensor[mask] = value` (by_index) or `tensor.masked_fill_(mask, value)`."""

    tensor: ast.Name
    mask: ast.expr
    value: ast.expr
    by_index: bool


def written_under_its_own_mask(names: Names, node: ast.If) -> WrittenFill | None:
    """The fill in place of a branch whose condition asks whether its mask is true anywhere; None for another branch."""
    if node.orelse or len(node.body) != 1:
        return None
    written = _written(node.body[0])
    asked = _any_of(names, node.test)
    return written if written is not None and asked is not None and ast.dump(written.mask) == ast.dump(asked) else None


def _written(statement: ast.stmt) -> WrittenFill | None:
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() as tensor, slice=mask)], value=value):
            return WrittenFill(tensor, mask, value, by_index=True)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            written = _filled_in_place(call)
            return written if written is not None and written.tensor.id == name else None
        case ast.Expr(value=ast.Call() as call):
            return _filled_in_place(call)
        case _:
            return None


def _filled_in_place(call: ast.Call) -> WrittenFill | None:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name() as tensor, attr="masked_fill_"), args=[mask, *rest]):
            given = [*rest, *(keyword.value for keyword in call.keywords)]
            known = all(keyword.arg == "value" for keyword in call.keywords)
            return WrittenFill(tensor, mask, given[0], by_index=False) if known and len(given) == 1 else None
        case _:
            return None


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
