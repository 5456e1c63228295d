"""Reductions of selected elements: `x[m].sum()` and its relatives, as reductions of all elements."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gbfix.analysis.flow import State
from gbfix.analysis.literals import shorten
from gbfix.analysis.values import Category
from gbfix.codemods import _mask_duties as duty
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._selections import ADVICE, Dense, SelectionReader, text_with
from gbfix.codemods._sites import torch_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation, Replacement

_FILLS = {
    "sum": "0",
    "mean": "0",
    "any": "0",
    "count_nonzero": "0",
    "all": "1",
    "prod": "1",
    "max": 'float("-inf")',
    "amax": 'float("-inf")',
    "min": 'float("inf")',
    "amin": 'float("inf")',
}
_KNOWN = frozenset({*_FILLS, "std", "var", "median", "norm", "argmax", "argmin", "logsumexp"})
_FUNCTIONS = frozenset(f"torch.{name}" for name in _KNOWN)


@dataclass(frozen=True)
class Reduction:
    """`operand.name(*arguments)`, or the function of torch of that name."""

    node: ast.Call
    name: str
    operand: ast.expr
    arguments: Sequence[ast.expr]


def reduction_in(reader: SelectionReader, node: ast.expr, state: State) -> Reduction | None:
    """The reduction of selected elements that an expression is; None for another expression."""
    if not isinstance(node, ast.Call):
        return None
    qualified = reader.names.qualified(node.func)
    if qualified in _FUNCTIONS and node.args:
        found = Reduction(node, qualified.rpartition(".")[2], node.args[0], node.args[1:])
    elif qualified is None and isinstance(node.func, ast.Attribute) and node.func.attr in _KNOWN:
        found = Reduction(node, node.func.attr, node.func.value, node.args)
    else:
        return None
    return found if reader.selections(found.operand, state) else None


def reduced(reader: SelectionReader, reduction: Reduction, state: State) -> tuple[list[Replacement], list[Obligation]]:
    """The reduction of all elements and what it relies on. Raises RefusedError."""
    line = reduction.node.lineno
    if reduction.name not in _FILLS:
        reason = f"no value of the other elements leaves {reduction.name} as it is"
        raise RefusedError("the other elements can be left out", reason, line, ADVICE)
    dense = reader.dense(reduction.operand, state)
    lacking = duty.missing_dimensions(reader.flow, state, dense)
    obligations = duty.common_obligations(reader.flow, state, dense, lacking)
    _check_arguments(reader, reduction, dense, state, lacking)
    obligations += duty.safe_value_obligations(dense)
    obligations += _own_obligations(reader, reduction, dense)
    text = _text(reader, reduction, dense, lacking)
    return [Replacement(reader.source.span(reduction.node), text)], obligations


def _check_arguments(reader: SelectionReader, reduction: Reduction, dense: Dense, state: State, lacking: int) -> None:
    words = [ast.unparse(argument) for argument in reduction.arguments]
    words += [ast.unparse(keyword) for keyword in reduction.node.keywords]
    if any(selection.broadcasts for selection in dense.selected.values()):
        shapes = {dense.evaluation.value(node).shape for node in dense.selected}
        shapes.add(reader.flow.evaluate(dense.mask, state)[0].shape)
        flat = len(shapes) == 1
    else:
        flat = lacking == 0
    whole = not words or (
        flat and words in (["0"], ["-1"], ["dim=0"], ["dim=-1"]) and reduction.name not in ("max", "min")
    )
    if not whole or (reduction.name == "mean" and not flat):
        reason = f"{shorten(reader.source.segment(reduction.node))} reduces rows, or takes options"
        raise RefusedError("all selected elements are reduced to one", reason, reduction.node.lineno, ADVICE)


def _own_obligations(reader: SelectionReader, reduction: Reduction, dense: Dense) -> list[Obligation]:
    line = reduction.node.lineno
    text = shorten(reader.source.segment(reduction.operand))
    category = dense.value.dtype.category if dense.value.dtype is not None else None
    found: list[Obligation] = []
    if reduction.name in ("sum", "mean", "prod"):
        found += duty.order_obligations(dense.value, text, line)
    if reduction.name == "mean":
        if category in (Category.BOOL, Category.INT):
            raise RefusedError("a mean of floating-point numbers", f"{text} is none", line, "convert it before")
        wide = dense.value.dtype is not None and dense.value.dtype.term in ("float32", "float64", "bfloat16")
        if not wide:
            reason = f"{text} may be of half precision, whose mean is computed in single precision"
            found.append(Obligation(duty.HALF, Discharge.ASSUMED, reason, line))
    if reduction.name in ("max", "min", "amax", "amin"):
        if category is not Category.FLOAT:
            reason = f"nothing shows that {text} is a floating-point tensor, which has infinities"
            raise RefusedError("infinity can stand for the other elements", reason, line, ADVICE)
        reason = f"{reduction.name} of nothing raises, and gives {_FILLS[reduction.name]} now"
        found.append(Obligation(duty.NOT_EMPTY, Discharge.ASSUMED, reason, line))
    return found


def _text(reader: SelectionReader, reduction: Reduction, dense: Dense, lacking: int) -> str:
    torch, _ = torch_name(reader.flow.context.view, reduction.node)
    mask = ast.unparse(dense.mask)
    wide = mask + "[" + ", ".join(["...", *["None"] * lacking]) + "]" if lacking else mask
    if lacking and not isinstance(dense.mask, ast.Name):
        wide = f"({mask})" + wide[len(mask) :]
    chosen = f"{torch}.where({wide}, {dense_text(dense, wide, torch)}, {_FILLS[reduction.name]})"
    if reduction.name != "mean":
        return f"{chosen}.{reduction.name}()"
    count = f"{mask if isinstance(dense.mask, ast.Name) else f'({mask})'}.sum()"
    parent = reader.source.parents[reduction.node]
    inside = isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Attribute | ast.Compare | ast.Subscript | ast.BoolOp)
    text = f"{chosen}.sum() / {count}"
    return f"({text})" if inside else text


def dense_text(dense: Dense, mask: str, torch: str) -> str:
    """The expression with every selection replaced by all elements, or by 1 where that is safer than the others."""
    safe = duty.needs_safe_values(dense)
    replaced = {}
    for node, selection in dense.selected.items():
        base = ast.unparse(selection.base)
        replaced[node] = ast.parse(f"{torch}.where({mask}, {base}, 1)" if safe else base, mode="eval").body
    return text_with(dense.node, replaced)
