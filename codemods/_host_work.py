"""Tells a function that works with Python's and NumPy's values from one that computes with tensors."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection

from gbfix.analysis.names import Names
from gbfix.analysis.source import SourceFile

_LIBRARIES = ("numpy.", "math.", "random.", "itertools.", "collections.", "operator.")
_READS = ("item", "tolist", "numpy")
_ASKS = ("size", "dim", "numel", "is_floating_point", "is_complex", "element_size", "ndimension", "stride")
_FIELDS = ("shape", "ndim", "dtype", "device", "is_cuda", "requires_grad")


def other_work(
    source: SourceFile, names: Names, function: ast.FunctionDef, tensors: Collection[str]
) -> ast.expr | None:
    """The first expression that may do more than work on the host, None when there is none.

    tensors: the names that hold tensors. Asking them for their size is host work, and so is a chain of methods that
    ends in a number or list: `mask.sum(-1).tolist()`.
    """
    nested = {node.name for node in ast.walk(function) if isinstance(node, ast.FunctionDef) and node is not function}
    parts = {part for statement in function.body for part in ast.walk(statement)}
    for part in sorted(
        (part for part in parts if isinstance(part, ast.Call | ast.Name)), key=lambda p: (p.lineno, p.col_offset)
    ):
        if isinstance(part, ast.Name):
            if part.id in tensors and not _is_asked(source, part):
                return part
        elif not _is_host_call(source, names, part, nested, tensors):
            return part
    return None


def _is_asked(source: SourceFile, name: ast.Name) -> bool:
    """True where a tensor is only asked for something on the spot, or told from None."""
    around = source.parents[name]
    if isinstance(around, ast.Compare):
        return all(isinstance(one, ast.Is | ast.IsNot) for one in around.ops)
    return _ends_in_a_read(source, name)


def _ends_in_a_read(source: SourceFile, node: ast.expr) -> bool:
    """True when the chain of methods that begins with an expression ends in Python's values."""
    current: ast.AST = node
    while isinstance(parent := source.parents.get(current), ast.Attribute):
        call = source.parents.get(parent)
        if not isinstance(call, ast.Call) or call.func is not parent:
            return parent.attr in _FIELDS
        if parent.attr in (*_READS, *_ASKS):
            return True
        current = call
    return False


def _is_host_call(
    source: SourceFile, names: Names, call: ast.Call, nested: Collection[str], tensors: Collection[str]
) -> bool:
    func = call.func
    qualified = names.qualified(func)
    if qualified is not None:
        return qualified.startswith(_LIBRARIES) or "." not in qualified
    if isinstance(func, ast.Name):
        return func.id in nested or (hasattr(builtins, func.id) and names.is_builtin(func, func.id))
    root: ast.expr = func
    while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
        root = root.func if isinstance(root, ast.Call) else root.value
    if isinstance(root, ast.Constant | ast.JoinedStr | ast.List | ast.Tuple):
        return True
    if not isinstance(root, ast.Name) or names.qualified(root) is not None:
        # What a method of NumPy's results gives is NumPy's as well.
        return isinstance(root, ast.Name) and (names.qualified(root) or "").split(".")[0] in ("numpy", "math", "random")
    function = source.enclosing_function(call)
    if function is not None and function.owner is not None and root.id in ("self", "cls"):
        return False
    return root.id not in tensors or _ends_in_a_read(source, root)
