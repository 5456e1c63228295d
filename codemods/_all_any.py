"""`all(...)` and `any(...)` of Python over the elements of a tensor, as the condition of a branch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.values import Kind
from gbfix.codemods._obligations import shorten
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_reads import statement_of
from gbfix.engine.model import Discharge, Obligation

DIMENSION = "the tensor has one dimension"
ELEMENTS = "each element is compared with a small number"
_SMALL = 127


def questions_of(flow: Flow) -> Iterator[tuple[ast.Call, str, Obligation]]:
    """The questions about each element that branches ask, with the tensor that answers, and what it relies on.

    The text is empty where the obligation is violated.
    """
    for node in ast.walk(flow.context.function.node):
        match node:
            case ast.Call(func=ast.Name(id="all" | "any" as name) as function, args=[argument], keywords=[]) if (
                flow.context.names.is_builtin(function, name) and _is_condition(flow, node)
            ):
                statement = statement_of(flow.context, node)
                state = flow.entry if statement is None else flow.before.get(statement)
                if state is not None:
                    yield from _question(flow, state, node, name, argument)


def _question(
    flow: Flow, state: State, node: ast.Call, name: str, argument: ast.expr
) -> Iterator[tuple[ast.Call, str, Obligation]]:
    tensor = argument
    if isinstance(argument, ast.GeneratorExp) and len(argument.generators) == 1:
        tensor = argument.generators[0].iter
    value = flow.evaluate(tensor, state)[0]
    if value.kind is not Kind.TENSOR or value.assumed:
        return
    text = shorten(" ".join(flow.context.source.segment(tensor).split()))
    try:
        asked = _asked(flow, argument, tensor)
    except RefusedError as refused:
        yield node, "", refused.obligation
        return
    if sizes.ranks(value.shape or ()) != {1}:
        reason = f"{text} is not known to have one: {name}() fails without any, and for rows"
        yield node, "", Obligation(DIMENSION, Discharge.VIOLATED, reason, node.lineno)
        return
    yield node, f"{asked}.{name}()", Obligation(DIMENSION, Discharge.PROVED, f"{text} has one", node.lineno)


def _asked(flow: Flow, argument: ast.expr, tensor: ast.expr) -> str:
    """The tensor of the answers for each element. Raises RefusedError."""
    source = flow.context.source
    text = source.segment(tensor)
    simple = isinstance(tensor, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    operand = text if simple else f"({text})"
    if argument is tensor:
        return operand
    match argument:
        case ast.GeneratorExp(
            elt=ast.Compare(
                left=ast.Name(id=left), ops=[operator], comparators=[ast.Constant(value=number)]
            ) as compare,
            generators=[ast.comprehension(target=ast.Name(id=each), ifs=[], is_async=0)],
        ) if (
            left == each
            and isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq)
            and type(number) in (int, float)
            and isinstance(number, int | float)
            and 0 <= number <= _SMALL
            and "\n" not in source.segment(argument)
            and source.segment(compare).startswith(left)
        ):
            return f"({operand}{source.segment(compare)[len(left) :]})"
    raise RefusedError(ELEMENTS, "it asks for something else", argument.lineno, "")


def _is_condition(flow: Flow, node: ast.expr) -> bool:
    """True where only the truth of an expression counts: in the test of a branch, perhaps with not, and, or."""
    for inner, outer in pairwise([node, *flow.context.source.ancestors(node)]):
        if isinstance(outer, ast.If | ast.IfExp):
            return inner is outer.test
        if not isinstance(outer, ast.BoolOp) and not (isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.Not)):
            return False
    return False
