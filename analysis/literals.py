"""Literals in expressions: numbers, indices, and text shortened for messages."""

from __future__ import annotations

import ast

_NO_LITERAL = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)
"""What `ast.literal_eval` raises for other expressions."""


def literal_number(node: ast.expr) -> float | int | None:
    """The number or bool that a literal names, exactly; None for anything else."""
    try:
        value = ast.literal_eval(node)
    except _NO_LITERAL:
        return None
    return value if isinstance(value, int | float) else None


def number_of(node: ast.expr) -> float | None:
    """The finite number that a literal names, None for anything else (also for a bool)."""
    value = literal_number(node)
    return None if value is None or isinstance(value, bool) or abs(value) > 1e300 else float(value)


def is_nonzero_constant(node: ast.expr) -> bool:
    """True for a literal number other than zero."""
    return bool(number_of(node))


def is_moderate_constant(node: ast.expr) -> bool:
    """True for a constant that float32 holds as a finite number other than zero, or as zero itself."""
    number = number_of(node)
    return number is not None and (number == 0 or 1e-37 <= abs(number) <= 1e37)


def is_text_of_infinity(node: ast.expr) -> bool:
    """True for `float("inf")`, `float("-inf")` and `float("nan")`."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return is_text_of_infinity(inner)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))], keywords=[]):
            return text.strip().lower() in ("inf", "-inf", "+inf", "nan")
        case _:
            return False


def is_literal(node: ast.expr) -> bool:
    """True for an expression that `ast.literal_eval` takes."""
    try:
        ast.literal_eval(node)
    except _NO_LITERAL:
        return False
    return True


def number_in(text: str) -> float | None:
    """The number that source text spells, None for other text."""
    try:
        return number_of(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return None


def is_constant_index(node: ast.expr) -> bool:
    """True for an index that is made of integers, None, `...` and slices with literal bounds."""
    match node:
        case ast.Constant(value=constant):
            return constant is None or constant is Ellipsis or type(constant) is int
        case ast.Slice(lower=lower, upper=upper, step=step):
            return all(part is None or number_of(part) is not None for part in (lower, upper, step))
        case ast.Tuple(elts=parts):
            return all(is_constant_index(part) for part in parts)
        case _:
            return number_of(node) is not None


def rank_change(node: ast.expr) -> int:
    """How many dimensions a constant index adds: None adds one, an integer takes one away."""
    if isinstance(node, ast.Tuple):
        return sum(rank_change(part) for part in node.elts)
    if isinstance(node, ast.Constant) and node.value is None:
        return 1
    return 0 if number_of(node) is None else -1


def shorten(text: str, limit: int = 60) -> str:
    """The text on one line, cut at the end when it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."


def constant_index(node: ast.expr) -> object:
    """The index that a constant one spells, slices included. Raises ValueError for another expression."""
    match node:
        case ast.Tuple(elts=parts):
            return tuple(constant_index(part) for part in parts)
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(*(None if bound is None else ast.literal_eval(bound) for bound in (lower, upper, step)))
        case _:
            return ast.literal_eval(node)


def constant_place(node: ast.expr) -> int | None:
    """The number of the place that a constant index names, None for another index."""
    match node:
        case ast.Constant(value=int(place)) if not isinstance(place, bool):
            return place
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(place))) if not isinstance(place, bool):
            return -place
        case _:
            return None
