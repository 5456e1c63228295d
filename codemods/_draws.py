"""Which names hold one number between zero and one that torch has drawn, and nothing else."""

from __future__ import annotations

import ast

from gbfix.analysis.project import FileView

_OPTIONS = frozenset({"device", "generator"})
_DTYPES = frozenset(
    {"torch.float32", "torch.float64", "torch.float16", "torch.bfloat16", "torch.float", "torch.double"}
)
_ASKED = frozenset({"item", "tolist", "shape", "dtype", "device", "ndim"})


def is_one_draw(view: FileView, name: ast.Name) -> bool:
    """True when every value of a local name is such a draw, and nothing can write into it."""
    function = view.source.enclosing_function(name)
    scope, bindings = view.names.lookup(name.id, name)
    if function is None or scope is not function.node or not bindings:
        return False
    for binding in bindings:
        match binding.statement:
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as value) if _draws_one(view, value):
                pass
            case _:
                return False
    return all(_only_reads(view, use) for use in view.names.loads.get(name.id, ()) if _belongs(view, use, scope))


def _belongs(view: FileView, use: ast.AST, scope: ast.AST) -> bool:
    return isinstance(use, ast.Name) and view.names.lookup(use.id, use)[0] is scope


def _draws_one(view: FileView, call: ast.Call) -> bool:
    """True for `torch.rand([])`, `torch.rand(1)` and the like."""
    if view.names.qualified(call.func) != "torch.rand":
        return False
    for word in call.keywords:
        is_float = word.arg == "dtype" and view.names.qualified(word.value) in _DTYPES
        if word.arg not in _OPTIONS and not is_float:
            return False
    sizes: list[ast.expr] = call.args
    match call.args:
        case [ast.List(elts=sizes) | ast.Tuple(elts=sizes)]:
            pass
        case []:
            return False
    return all(isinstance(size, ast.Constant) and size.value == 1 for size in sizes)


def _only_reads(view: FileView, use: ast.AST) -> bool:
    """True for a use that makes something new of the number, or asks it."""
    parent = view.source.parents[use]
    if isinstance(parent, ast.Attribute):
        return parent.attr in _ASKED
    return isinstance(parent, ast.Compare | ast.BinOp | ast.FormattedValue | ast.If)
