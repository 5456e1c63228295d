"""Whether the view that an index gives is written through."""

from __future__ import annotations

import ast

from gbfix.analysis.context import Context
from gbfix.codemods._scalar_reads import statement_of


def written_through(context: Context, view: ast.expr) -> bool:
    """True when a view, or the name it gets, is written in place: `x[i].add_(1)`, `row[0] = 1`, `row += 1`."""
    if _writes(context, view):
        return True
    statement = statement_of(context, view)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is not view:
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    for node in ast.walk(context.function.node):
        if not isinstance(node, ast.Name) or node.id not in names:
            continue
        if isinstance(context.source.parents[node], ast.AugAssign) and isinstance(node.ctx, ast.Store):
            return True
        if _writes(context, node):
            return True
    return False


def _writes(context: Context, node: ast.expr) -> bool:
    parent = context.source.parents[node]
    match parent:
        case ast.Subscript(value=value, ctx=ctx) if value is node:
            return isinstance(ctx, ast.Store) or _writes(context, parent)
        case ast.Attribute(attr=name, ctx=ctx):
            return isinstance(ctx, ast.Store) or (name.endswith("_") and not name.endswith("__"))
        case ast.keyword(arg=name):
            return name == "out"
        case _:
            return False
