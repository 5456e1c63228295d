"""Operations whose result has a size that depends on values: what PyTorch offers for each, and its price."""

from __future__ import annotations

import ast

from gbfix.analysis.flow import State
from gbfix.analysis.values import Kind
from gbfix.codemods._selections import ADVICE, SelectionReader

_FLAG = (
    "torch._dynamo.config.capture_dynamic_output_shape_ops = True keeps it in the graph with an unknown size, on which "
    "branches break, for the whole process"
)
_ADVICE = {
    "nonzero": "torch.nonzero_static(mask, size=n) where an upper bound n is known: it fills up with -1 and cuts off "
    f"what is more; or {ADVICE}",
    "argwhere": f"torch.nonzero_static(mask, size=n) where an upper bound n is known; or {ADVICE}",
    "where": f"the form with three arguments, torch.where(mask, a, b), keeps the size; or {ADVICE}",
    "masked_select": ADVICE,
    "unique": f"compute it before the compiled function, where the values do not change with it; or {_FLAG}",
    "unique_consecutive": f"compute it before the compiled function; or {_FLAG}",
    "bincount": "torch.zeros(n, ...).scatter_add_(0, x, torch.ones_like(x)) where the number of bins n is known; "
    f"bincount(minlength=n) alone keeps the size open; or {_FLAG}",
    "repeat_interleave": "give output_size=n where the program knows the sum of the repeats: it is not checked, and a "
    f"wrong one reads or writes other memory; or {_FLAG}",
    "one_hot": "give num_classes=n, from the configuration: the result then always has n columns, where it had as many "
    "as the largest label asked for",
}
_IN_A_LOOP = (
    "list the places for all rounds of the loop before it, in a function under @torch.compiler.disable: one break in "
    "place of one a round, and the loop is one graph. Where each round is a part of a model for the rows that chose "
    "it, running every part on all rows and weighting with zero needs no places, but costs more and may change last "
    "bits; or "
)
_FUNCTIONS = {f"torch.{name}": name for name in _ADVICE} | {"torch.nn.functional.one_hot": "one_hot"}
_METHODS = frozenset(_ADVICE) - {"where", "one_hot"}
_SPLIT = (
    "pad the parts to one length and use a mask, or split in the caller; torch._dynamo.config.capture_scalar_outputs "
    "= True keeps it in the graph with unknown sizes, for the whole process"
)


def open_size_in(reader: SelectionReader, node: ast.expr, state: State) -> str | None:
    """What to do about an expression whose size depends on values; None for any other expression."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return ADVICE if reader.selection(node, state) is not None else None
    if not isinstance(node, ast.Call):
        return None
    qualified = reader.names.qualified(node.func)
    if qualified is not None:
        return _of(reader, _FUNCTIONS.get(qualified, ""), node, node.args, state)
    if not isinstance(node.func, ast.Attribute):
        return None
    receiver = reader.flow.evaluate(node.func.value, state)[0]
    if receiver.kind not in (Kind.TENSOR, Kind.MAYBE):
        return None
    if node.func.attr == "split" and node.args and _is_list_of_values(node.args[0]):
        return _SPLIT
    if node.func.attr not in _METHODS or (receiver.kind is Kind.MAYBE and node.func.attr == "unique"):
        return None
    return _of(reader, node.func.attr, node, [node.func.value, *node.args], state)


def _of(reader: SelectionReader, name: str, node: ast.Call, arguments: list[ast.expr], state: State) -> str | None:
    words = {keyword.arg for keyword in node.keywords}
    if name not in _ADVICE or not arguments:
        return None
    if name == "where" and (len(arguments) > 1 or words):
        return None
    if name == "one_hot" and (len(arguments) > 1 or "num_classes" in words):
        return None
    if name == "repeat_interleave":
        repeats = [*arguments[1:], *(k.value for k in node.keywords if k.arg == "repeats")]
        given = repeats[0] if repeats else arguments[0]
        if "output_size" in words or reader.flow.evaluate(given, state)[0].kind is not Kind.TENSOR:
            return None
    if name in ("nonzero", "where", "argwhere") and _is_in_a_loop(reader, node):
        return _IN_A_LOOP + _ADVICE[name]
    return _ADVICE[name]


def _is_in_a_loop(reader: SelectionReader, node: ast.Call) -> bool:
    """True when the body of a loop of the function itself comes by the expression in each round."""
    inside: ast.AST = node
    for parent in reader.source.ancestors(node):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
        if isinstance(parent, ast.For) and inside is not parent.iter:
            return True
        inside = parent
    return False


def _is_list_of_values(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tolist"
