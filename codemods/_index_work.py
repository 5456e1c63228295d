"""Tells statements that compute sizes, positions and indices from those that a graph is worth having for."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function

_MAKES = "arange linspace zeros ones full empty eye tensor as_tensor zeros_like ones_like full_like empty_like"
_ARRANGES = (
    "cat concat concatenate stack hstack vstack meshgrid broadcast_to broadcast_tensors flip roll chunk split unbind "
    "tensor_split reshape flatten unflatten ravel permute transpose movedim squeeze unsqueeze pad repeat_interleave "
    "tile"
)
_CHOOSES = (
    "nonzero argwhere where unique unique_consecutive masked_select index_select gather take isin searchsorted "
    "bucketize bincount sort argsort topk tril triu one_hot count_nonzero nonzero_static"
)
_COUNTS = (
    "sum prod cumsum cummax cummin cumprod diff max min amax amin maximum minimum argmax argmin clamp floor ceil round "
    "trunc abs any all div remainder fmod floor_divide logical_and logical_or logical_not logical_xor eq ne lt le gt "
    "ge bitwise_and bitwise_or bitwise_not isfinite isnan isinf add sub mul equal numel is_tensor is_floating_point"
)
_FUNCTIONS = frozenset(f"{_MAKES} {_ARRANGES} {_CHOOSES} {_COUNTS}".split())
_METHODS = frozenset(
    f"{_ARRANGES} {_CHOOSES} {_COUNTS} view view_as reshape_as expand expand_as repeat t contiguous clone to type cpu "
    "long int bool float double half item tolist size dim ndimension stride new_zeros new_ones new_full new_tensor "
    "new_empty fill_ masked_fill append extend insert pop get items keys values update setdefault join index count "
    "copy startswith endswith split format clear remove add discard detach".split()
)
_MODULES = ("torch.", "torch.nn.functional.", "torch.Tensor.")
_LIBRARIES = ("math.", "itertools.", "collections.", "operator.", "functools.")
_PYTHON = (
    "abs all any bool dict divmod enumerate filter float frozenset int isinstance iter len list map max min next "
    "range reversed round set slice sorted str sum tuple zip getattr hasattr ValueError TypeError RuntimeError"
)
_BUILTINS = frozenset(_PYTHON.split())
_DEPTH = 3


def other_than_indices(view: FileView, function: Function, statements: Iterable[ast.stmt]) -> ast.AST | None:
    """The first part of some statements that may do more than compute indices, None when there is none.

    Functions of the same file, and methods of the same class, that are called count as well.
    """
    return _Reader(view).first(function, statements, _DEPTH)


class _Reader:
    def __init__(self, view: FileView) -> None:
        self._view = view
        self._seen: set[ast.AST] = set()

    def first(self, function: Function, statements: Iterable[ast.stmt], depth: int) -> ast.AST | None:
        for statement in statements:
            for part in ast.walk(statement):
                if isinstance(part, ast.BinOp | ast.AugAssign) and isinstance(part.op, ast.MatMult):
                    return part
                if isinstance(part, ast.Yield | ast.YieldFrom | ast.Await | ast.Global | ast.Nonlocal):
                    return part
                if isinstance(part, ast.With | ast.AsyncWith | ast.AsyncFor | ast.ClassDef | ast.Delete):
                    return part
                if isinstance(part, ast.Call) and not self._is_light(function, part, depth):
                    return part
        return None

    def _is_light(self, function: Function, call: ast.Call, depth: int) -> bool:
        names, func = self._view.names, call.func
        qualified = names.qualified(func)
        if qualified is not None and "." in qualified:
            module, _, name = qualified.rpartition(".")
            return (f"{module}." in _MODULES and name in _FUNCTIONS) or qualified.startswith(_LIBRARIES)
        if isinstance(func, ast.Name):
            if names.is_builtin(func, func.id):
                return func.id in _BUILTINS
            found = names.single_definition(func)
            return found is not None and self._is_light_function(found.node, depth)
        if not isinstance(func, ast.Attribute):
            return False
        if isinstance(func.value, ast.Name) and function.owner is not None and func.value.id in ("self", "cls"):
            methods = [one for one in function.owner.body if isinstance(one, ast.FunctionDef) and one.name == func.attr]
            return len(methods) == 1 and self._is_light_function(methods[0], depth)
        return func.attr in _METHODS

    def _is_light_function(self, node: ast.AST, depth: int) -> bool:
        if node in self._seen:
            return True
        function = self._view.source.function_of_node.get(node) if isinstance(node, ast.FunctionDef) else None
        if function is None or depth == 0 or not isinstance(node, ast.FunctionDef):
            return False
        self._seen.add(node)
        return self.first(function, node.body, depth - 1) is None
