"""Whether a function computes the same way for every size of an argument, as its source shows it.

Source: what Dynamo makes of a marked size, tried with torch 2.13: element-wise operations and whole reductions leave it
open; a comparison with a constant, and a product that sums over it with a tensor of fixed size, fix it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from gbfix.analysis.names import Names
from gbfix.analysis.operators import OPERATORS, Shape
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function
from gbfix.codemods._varying import Varying

_ELEMENTWISE = (Shape.POINTWISE, Shape.LIKE)
_WHOLE = ("sum", "mean")
_NAMESPACES = ("torch.", "torch.nn.functional.", "torch.special.")
_ARITHMETIC = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow
_PRODUCTS = frozenset({"torch.matmul", "torch.mm", "torch.bmm", "torch.nn.functional.linear", "torch.mv"})
_METHOD_PRODUCTS = frozenset({"matmul", "mm", "bmm", "mv"})


def computes_for_every_size(view: FileView, function: Function, varying: Sequence[Varying]) -> bool:
    """True when all that the function does is to compute element by element with one tensor and with numbers.

    A parameter whose default is a number is taken for one. False says nothing: it may be open to every size all the
    same.
    """
    if len(varying) != 1 or varying[0].path or isinstance(function.node, ast.AsyncFunctionDef):
        return False
    known = {varying[0].parameter: True, **dict.fromkeys(_numbers(function), False)}
    body = function.node.body
    if not isinstance(body, list):
        return not isinstance(body, ast.Name) and _Elementwise(view.names, known).knows(body)
    elementwise = _Elementwise(view.names, known)
    return all(elementwise.takes(statement) for statement in body)


def _numbers(function: Function) -> list[str]:
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    return [a.arg for a, default in pairs if _is_number(default)]


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


class _Elementwise:
    """Follows the names of a straight line of code; each name is a tensor (True) or a number (False)."""

    def __init__(self, names: Names, known: dict[str, bool]) -> None:
        self._names = names
        self._known = known
        self._arguments = set(known)

    def takes(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return True
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return self._assign(name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                return self._assign(name, value)
            case ast.Return(value=ast.Tuple(elts=parts)):
                return all(map(self._makes, parts))
            case ast.Return(value=ast.expr() as value):
                return self._makes(value)
        return False

    def _makes(self, node: ast.expr) -> bool:
        """True for a known value that is not the argument itself, which would leave the function with its mark."""
        return self.knows(node) and not (isinstance(node, ast.Name) and node.id in self._arguments)

    def knows(self, node: ast.expr) -> bool:
        return self._kind(node) is not None

    def _assign(self, name: str, value: ast.expr) -> bool:
        kind = self._kind(value)
        if kind is None or isinstance(value, ast.Name):
            return False
        self._known[name] = kind
        self._arguments.discard(name)
        return True

    def _kind(self, node: ast.expr) -> bool | None:
        match node:
            case ast.Name(id=name):
                return self._known.get(name)
            case ast.Constant(value=bool() | int() | float()):
                return False
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                return self._kind(operand)
            case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _ARITHMETIC):
                return self._together([left, right])
            case ast.Compare(left=left, comparators=[right]) if self._together([left, right]):
                return True
            case ast.Call():
                return self._call(node)
        return None

    def _together(self, nodes: Sequence[ast.expr]) -> bool | None:
        kinds = [self._kind(node) for node in nodes]
        return None if None in kinds else any(kinds)

    def _call(self, node: ast.Call) -> bool | None:
        name = self._names.qualified(node.func)
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if name is not None and name.startswith(_NAMESPACES):
            operation = name.rpartition(".")[2]
            if name not in {f"{namespace}{operation}" for namespace in _NAMESPACES}:
                return None
        elif name is None and isinstance(node.func, ast.Attribute):
            operation, arguments = node.func.attr, [node.func.value, *arguments]
        else:
            return None
        operator = OPERATORS.get(operation)
        if (
            not arguments
            or operator is None
            or operator.random
            or operator.aliases
            or self._kind(arguments[0]) is not True
        ):
            return None
        if operation in _WHOLE and len(arguments) == 1:
            return True
        return True if operator.shape in _ELEMENTWISE and self._together(arguments) else None


def what_fixes_the_size(view: FileView, function: Function, varying: Sequence[Varying]) -> tuple[str, int] | None:
    """What in the function gives one of the sizes a fixed value, in words, and its line; None when nothing shows."""
    nodes = list(ast.walk(function.node))
    for one in varying:
        for node in nodes:
            if (reason := _compared(view, node, one)) or (reason := _contracted(view, node, one, varying)):
                return reason, getattr(node, "lineno", 0)
    return None


def _compared(view: FileView, node: ast.AST, one: Varying) -> str:
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            for side, other in ((left, right), (right, left)):
                is_number = isinstance(other, ast.Constant) and isinstance(other.value, int)
                if is_number and _is_size(view.names, side, one):
                    return f"{view.source.segment(side)} is compared with {view.source.segment(other)}"
    return ""


def _is_size(names: Names, node: ast.expr, one: Varying) -> bool:
    """True for `x.shape[0]`, `x.size(0)` and `len(x)` of a dimension that varies."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=index):
            dimension = _number(index)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[index]):
            dimension = _number(index)
        case ast.Call(func=function, args=[ast.Name(id=name)]) if names.is_builtin(function, "len"):
            dimension = 0
        case _:
            return False
    if dimension is not None and dimension < 0 and one.rank is not None:
        dimension += one.rank
    return name == one.parameter and not one.path and dimension in one.dimensions


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _contracted(view: FileView, node: ast.AST, one: Varying, varying: Sequence[Varying]) -> str:
    """A product sums over the last dimension of its left side and over the last but one of its right side."""
    names = view.names
    others = {other.parameter for other in varying if other is not one}

    def varies_last(side: ast.expr) -> bool:
        return _is(side, one) and one.rank is not None and one.rank - 1 in one.dimensions

    def varies_before(side: ast.expr) -> bool:
        return _is(side, one) and one.rank is not None and max(one.rank - 2, 0) in one.dimensions

    def is_fixed(side: ast.expr) -> bool:
        return not any(isinstance(part, ast.Name) and part.id in others | {one.parameter} for part in ast.walk(side))

    match node:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            sides = (left, right)
        case ast.Call(func=function, args=[left, right, *_]) if names.qualified(function) in _PRODUCTS:
            sides = (left, right)
        case ast.Call(func=ast.Attribute(value=left, attr=attribute), args=[right]) if attribute in _METHOD_PRODUCTS:
            sides = (left, right)
        case ast.Call(func=function, args=[left]) if varies_last(left) and _is_linear(view, function):
            return (
                f"{view.source.segment(node)} sums over the last dimension of {one.parameter}, which its weight fixes"
            )
        case _:
            return ""
    is_linear = isinstance(node, ast.Call) and (names.qualified(node.func) or "").endswith(".linear")
    left, right = sides
    for side, other, sums in ((left, right, varies_last), (right, left, varies_last if is_linear else varies_before)):
        if sums(side) and is_fixed(other):
            text = view.source.segment(other)
            return f"a product sums over this dimension of {one.parameter}, and {text} fixes its size"
    return ""


def _is(node: ast.expr, one: Varying) -> bool:
    return isinstance(node, ast.Name) and node.id == one.parameter and not one.path


def _is_linear(view: FileView, function: ast.expr) -> bool:
    """True for a module that the source shows to be a torch.nn.Linear."""
    names = view.names

    def makes(value: ast.expr | None) -> bool:
        return isinstance(value, ast.Call) and names.qualified(value.func) == "torch.nn.Linear"

    if isinstance(function, ast.Name):
        binding = names.single_definition(function)
        return binding is not None and isinstance(binding.statement, ast.Assign) and makes(binding.statement.value)
    return any(makes(value) for value in _attribute_values(view, function))


def _attribute_values(view: FileView, node: ast.expr) -> list[ast.expr]:
    """What the class around `self.NAME` sets the attribute to."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
            owner = next((p for p in view.source.ancestors(node) if isinstance(p, ast.ClassDef)), None)
            is_set: Callable[[ast.expr], bool] = lambda target: (  # noqa: E731
                isinstance(target, ast.Attribute)
                and target.attr == attribute
                and isinstance(target.value, ast.Name)
                and target.value.id == "self"
            )
            assigned = [part for part in ast.walk(owner) if isinstance(part, ast.Assign)] if owner else []
            return [part.value for part in assigned if any(map(is_set, part.targets))]
    return []
