"""What the arguments of a message are made of: constants, metadata, tensors, or text made from tensors."""

from __future__ import annotations

import ast
from enum import Enum

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import is_literal
from gbfix.analysis.values import Kind, Value


class Content(str, Enum):
    """What an argument is, in order of what it takes to know its text.

    CONSTANT: a literal. METADATA: shapes, dtypes, devices, sizes, Python numbers and strings that no tensor's value
    goes into. TENSOR: a tensor itself. READ: a Python number read out of a tensor, such as `x.item()`. TEXT: text,
    or a container, made from tensors or what was read out of them. UNKNOWN: nothing shows what it is.
    """

    CONSTANT = "constant"
    METADATA = "metadata"
    TENSOR = "tensor"
    READ = "number read out of a tensor"
    TEXT = "text made from tensors"
    UNKNOWN = "unknown"


_ORDER = list(Content)
_TEXT_FUNCTIONS = ("str", "repr", "ascii", "format")


def content_of(flow: Flow, state: State, node: ast.expr) -> Content:
    """What an expression is made of, where `state` holds."""
    if is_literal(node):
        return Content.CONSTANT
    parts = _parts(flow, node)
    if parts is not None:
        found = [content_of(flow, state, part) for part in parts]
        worst = max(found, key=_ORDER.index, default=Content.CONSTANT)
        if worst in (Content.TENSOR, Content.READ):
            return Content.TEXT
        return Content.METADATA if worst is Content.CONSTANT else worst
    return _of_value(flow.evaluate(node, state)[0])


def _of_value(value: Value) -> Content:
    if value.kind is Kind.TENSOR:
        return Content.TENSOR
    if value.kind is Kind.NUMBER:
        return Content.METADATA if value.scalar_of is None else Content.READ
    if value.kind is Kind.OTHER and (value.class_name or "").startswith(("tensor.", "torch.", "str", "None")):
        return Content.METADATA
    return Content.UNKNOWN


def _parts(flow: Flow, node: ast.expr) -> list[ast.expr] | None:
    """The expressions that text or a container is made from; None for an expression that is neither."""
    match node:
        case ast.JoinedStr(values=parts):
            return [part for value in parts if isinstance(value, ast.FormattedValue) for part in _formatted(value)]
        case ast.BinOp(left=ast.Constant(value=str()) | ast.JoinedStr(), right=right, op=ast.Mod() | ast.Add()):
            return [node.left, right]
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=str()) | ast.JoinedStr()):
            return [left, node.right]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format" | "join")):
            return [*node.args, *(keyword.value for keyword in node.keywords)]
        case ast.Call(func=ast.Name(id=name)) if name in _TEXT_FUNCTIONS and _is_builtin(flow, node.func):
            return list(node.args)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return list(parts)
        case ast.Dict(keys=keys, values=parts):
            return [*(key for key in keys if key is not None), *parts]
        case ast.Starred(value=inner):
            return [inner]
        case _:
            return None


def _formatted(value: ast.FormattedValue) -> list[ast.expr]:
    return [value.value, *([value.format_spec] if value.format_spec is not None else [])]


def _is_builtin(flow: Flow, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and flow.context.names.is_builtin(node, node.id)
