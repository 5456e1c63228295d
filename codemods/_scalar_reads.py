"""Where Python takes a number out of a tensor: `t.item()`, `float(t)`, `int(t)`, `t.tolist()[k]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from gbfix.analysis.context import Context
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import constant_place
from gbfix.analysis.project import FileView
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods._listed_reads import listed_nodes
from gbfix.engine.dataclass import dataclass

_COUNTS = frozenset({"argmax", "argmin", "count_nonzero"})


@dataclass(frozen=True)
class Read:
    """One reading of a number. node: the whole expression; tensor: what it reads; value: the facts about that.

    number: the Python type, None where it depends on the dtype. index: the element that `tolist()[index]` takes.
    listed: `tolist()`, of which names take elements. implicit: `math.exp(t)` and `x[t]`, which read without a word.
    warns: torch warns where the tensor requires a gradient.
    """

    node: ast.expr
    tensor: ast.expr
    value: Value
    state: State
    number: str | None
    index: int | None = None
    listed: bool = False
    implicit: bool = False
    warns: bool = False

    @property
    def counts(self) -> bool:
        """True for a number of elements or a position, which no memory can make too large for a double."""
        match self.tensor:
            case ast.Call(func=ast.Attribute(attr=name, value=base)) if name in _COUNTS:
                return base is not None
            case _:
                return False


def statement_of(context: Context, node: ast.AST) -> ast.stmt | None:
    """The innermost statement that a node belongs to."""
    return next((parent for parent in context.source.ancestors(node) if isinstance(parent, ast.stmt)), None)


def reads_of(flow: Flow) -> Iterator[Read]:
    """The readings of a function in source order, without those of inner functions and unreachable lines.

    Those of numbers that a list has are left to the rule that reads the list.
    """
    function = flow.context.function.node
    inner = {
        part
        for node in ast.walk(function)
        if isinstance(node, FunctionNode | ast.ClassDef) and node is not function
        for part in ast.walk(node)
    }
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Call | ast.Subscript) and node not in inner]
    found: dict[ast.expr, Read] = {}
    listed = listed_nodes(flow.context.view)
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset, -(node.end_col_offset or 0))):
        statement = statement_of(flow.context, node)
        state = flow.entry if statement is None else flow.before.get(statement)
        read = None if state is None else _read(flow, state, node)
        if read is not None and listed and not listed.isdisjoint(ast.walk(read.node)):
            continue  # a list has the number
        if read is not None and read.tensor not in found and not any(node in ast.walk(o) for o in found):
            found[node] = read
    yield from found.values()


def _read(flow: Flow, state: State, node: ast.Call | ast.Subscript) -> Read | None:
    names = flow.context.names
    match node:
        case ast.Call(func=ast.Attribute(value=tensor, attr="item"), args=[], keywords=[]):
            return _of_tensor(flow, state, node, tensor)
        case ast.Call(func=ast.Name(id="float" | "int" as kind) as function, args=[argument], keywords=[]) if (
            names.is_builtin(function, kind)
        ):
            inner = _read(flow, state, argument) if isinstance(argument, ast.Call | ast.Subscript) else None
            if inner is not None:
                return replace(inner, node=node, number=kind)
            found = flow.evaluate(argument, state)[0]
            is_read = found.kind is Kind.TENSOR and not _of_numbers(flow, state, argument)
            return Read(node, argument, found, state, kind, warns=True) if is_read else None
        case ast.Subscript(value=ast.Call(func=ast.Attribute(value=tensor, attr="tolist"), args=[]), slice=index):
            place = constant_place(index)
            element = _of_tensor(flow, state, node, tensor)
            return None if place is None or element is None else replace(element, index=place)
        case ast.Call(func=ast.Attribute(value=tensor, attr="tolist"), args=[], keywords=[]):
            elements = _of_tensor(flow, state, node, tensor)
            return None if elements is None else replace(elements, listed=True)
        case ast.Subscript(slice=index):
            return _index(flow, state, index)
        case ast.Call(func=function, args=[argument], keywords=[]):
            if not (names.qualified(function) or "").startswith("math."):
                return None
            found = flow.evaluate(argument, state)[0]
            return (
                Read(argument, argument, found, state, "float", implicit=True, warns=True)
                if _is_tensor(found)
                else None
            )
        case _:
            return None


def _index(flow: Flow, state: State, index: ast.expr) -> Read | None:
    """The one tensor without dimensions among indices, which Python reads; bool and uint8 ones are masks."""
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        if isinstance(part, ast.Slice | ast.Constant):
            continue
        found = flow.evaluate(part, state)[0]
        dtype = found.dtype
        whole = dtype is not None and dtype.category is Category.INT and dtype.term != "uint8"
        if found.kind is Kind.TENSOR and found.is_scalar and whole:
            return Read(part, part, found, state, "int", implicit=True)
    return None


def _of_numbers(flow: Flow, state: State, node: ast.expr) -> bool:
    """True for a function of torch given numbers only, such as torch.div of sizes: Dynamo follows some of these."""
    if not isinstance(node, ast.Call) or not node.args or flow.context.names.qualified(node.func) is None:
        return False
    return all(flow.evaluate(argument, state)[0].kind is Kind.NUMBER for argument in node.args)


def _is_tensor(value: Value) -> bool:
    return value.kind is Kind.TENSOR


def _of_tensor(flow: Flow, state: State, node: ast.expr, tensor: ast.expr) -> Read | None:
    found = flow.evaluate(tensor, state)[0]
    if not found.tensor_like:
        return None
    category = found.dtype.category if found.dtype is not None else None
    number = {Category.INT: "int", Category.BOOL: "bool", Category.FLOAT: "float"}.get(category) if category else None
    return Read(node, tensor, found, state, number)


def captures_scalars(view: FileView) -> bool:
    """True when the file itself turns on the capture of numbers."""
    return "capture_scalar_outputs" in view.source.text and any(
        isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Attribute) and t.attr == "capture_scalar_outputs" for t in node.targets)
        and isinstance(node.value, ast.Constant)
        and node.value.value is True
        for node in view.source.nodes
    )
