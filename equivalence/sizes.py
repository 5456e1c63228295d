"""Sizes of tensors as symbols: which of them have to stay equal, and what an expression of symbols comes to."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Size: TypeAlias = int | str
"""A number, or an expression of symbols such as "2*s0"."""

DEFAULT_SIZE = 6
"""What an open size stands for where nothing tells: even, for "s0//2", and neither of 0 and 1, which Dynamo fixes."""


def symbols_of(size: Size) -> tuple[str, ...]:
    """The symbols in a size, in order, functions excluded; none in a text that is no expression."""
    tree = _parsed(size)
    functions = {
        node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return tuple(dict.fromkeys(name for name in names if name not in functions))


def number_of(size: Size, sizes: Mapping[str, int]) -> int:
    """What a size comes to: sums, differences, products, quotients, Max, Min, Mod and FloorDiv of known symbols.

    Anything else, as a text that is no expression, is `DEFAULT_SIZE`.
    """
    try:
        return _number(_parsed(size), sizes)
    except (KeyError, ZeroDivisionError, NotImplementedError):
        return DEFAULT_SIZE


def _parsed(size: Size) -> ast.expr:
    if isinstance(size, int):
        return ast.Constant(size)
    try:
        return ast.parse(size.lstrip("?"), mode="eval").body
    except SyntaxError:
        return ast.Constant(DEFAULT_SIZE)


def _number(node: ast.expr, sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return sizes[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, sizes)
        case ast.BinOp(left=left, op=operator, right=right):
            return _combined(operator, _number(left, sizes), _number(right, sizes))
        case ast.Call(func=ast.Name(id=function), args=arguments):
            return _called(function, [_number(argument, sizes) for argument in arguments])
    raise NotImplementedError(ast.dump(node))


def _combined(operator: ast.operator, left: int, right: int) -> int:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv() | ast.Div():
            return left // right
        case ast.Mod():
            return left % right
        case ast.Pow() if 0 <= right <= 8:
            return int(left**right)
    raise NotImplementedError(type(operator).__name__)


def _called(function: str, numbers: Sequence[int]) -> int:
    match function, numbers:
        case "Max", [_, *_]:
            return max(numbers)
        case "Min", [_, *_]:
            return min(numbers)
        case "Mod" | "PythonMod", [left, right]:
            return left % right
        case "FloorDiv" | "CleanDiv", [left, right]:
            return left // right
    raise NotImplementedError(function)


def equal_in_all(rows: Sequence[Mapping[str, int]]) -> dict[str, str]:
    """For each place of a size, the first place that had the same size in each call in which both were there.

    rows: of each call, the sizes by place. Places that never come together in a call are not equal.
    """
    places = list(dict.fromkeys(place for row in rows for place in row))
    classes: list[list[str]] = []
    for place in places:
        for members in classes:
            if all(_always_equal(place, member, rows) for member in members):
                members.append(place)
                break
        else:
            classes.append([place])
    return {place: members[0] for members in classes for place in members}


def _always_equal(one: str, other: str, rows: Sequence[Mapping[str, int]]) -> bool:
    together = [row for row in rows if one in row and other in row]
    return bool(together) and all(row[one] == row[other] for row in together)
