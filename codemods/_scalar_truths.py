"""Where Python reads a tensor without taking a number out by name: truth values, bounds, membership."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.values import Kind
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_reads import statement_of
from gbfix.codemods._scalar_sinks import CAPTURE

_CLAIM = "Python does not need the value of a tensor"


def truths_of(flow: Flow) -> Iterator[tuple[ast.expr, RefusedError]]:
    """The readings of a function that cannot stay tensors by themselves, and why; those in tests are left out."""
    function = flow.context.function.node
    inner = {
        part
        for node in ast.walk(function)
        if isinstance(node, FunctionNode | ast.ClassDef) and node is not function
        for part in ast.walk(node)
    }
    for node in ast.walk(function):
        if not isinstance(node, ast.expr) or node in inner or _in_test(flow, node):
            continue
        statement = statement_of(flow.context, node)
        state = flow.entry if statement is None else flow.before.get(statement)
        refused = None if state is None else _refused(flow, state, node)
        if refused is not None:
            yield node, refused


def _in_test(flow: Flow, node: ast.expr) -> bool:
    """True for what a branch, an assertion or a message asks: other rules know about these."""
    for inner, outer in pairwise([node, *flow.context.source.ancestors(node)]):
        if isinstance(outer, ast.If | ast.While | ast.IfExp) and inner is outer.test:
            return True
        if isinstance(outer, ast.Assert | ast.JoinedStr | ast.Raise):
            return True
        if isinstance(outer, ast.stmt):
            return False
    return False


def _refused(flow: Flow, state: State, node: ast.expr) -> RefusedError | None:
    names = flow.context.names
    match node:
        case ast.Call(func=ast.Name(id="bool") as function, args=[argument], keywords=[]) if names.is_builtin(
            function, "bool"
        ) and _is_tensor(flow, state, argument):
            return _no(flow, node, "is a Python truth value", "keep the comparison, which is a tensor, as it is")
        case ast.UnaryOp(op=ast.Not(), operand=argument) if _is_tensor(flow, state, argument):
            advice = f"torch.logical_not({flow.context.source.segment(argument)}), where a tensor will do"
            return _no(flow, node, "is a Python truth value", advice)
        case ast.BoolOp(values=parts) if any(_is_tensor(flow, state, part) for part in parts[:-1]):
            joined = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
            advice = f"torch.{joined}(...) where each part is true or false, else torch.where"
            return _no(flow, node, "chooses by a Python truth value", advice)
        case ast.Call(func=ast.Name(id="round") as function, args=[argument, *_]) if names.is_builtin(
            function, "round"
        ) and _is_tensor(flow, state, argument):
            advice = f"torch.round({flow.context.source.segment(argument)}), where a tensor will do"
            return _no(flow, node, "rounds a Python number, and fails for a tensor", advice)
        case ast.Call(func=ast.Name(id="all" | "any" as name) as function, args=[argument]) if names.is_builtin(
            function, name
        ) and isinstance(argument, ast.GeneratorExp):
            if any(_is_tensor(flow, state, part.iter) for part in argument.generators):
                return _no(flow, node, "asks each element", f"compare the whole tensor: (t > 0).{name}() for v > 0")
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[container]) if _is_tensor(flow, state, container):
            text = flow.context.source.segment(container)
            return _no(flow, node, "asks each element", f"({text} == value).any(), where a tensor will do")
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()]) if _is_tensor(flow, state, left):
            return _no(flow, node, "asks for a tensor's value", "join comparisons of the tensor with |")
        case ast.Slice(lower=lower, upper=upper, step=step):
            for bound in (lower, upper, step):
                if bound is not None and _is_tensor(flow, state, bound):
                    return _no(flow, bound, "bounds a slice", f"select with a mask, or: {CAPTURE}")
        case ast.Call(func=ast.Name(id="float" | "int" as name) as function, args=[argument], keywords=[]) if (
            names.is_builtin(function, name) and isinstance(argument, ast.Call)
        ):
            if (names.qualified(argument.func) or "").startswith("numpy."):
                return _no(flow, node, "takes a number out of an array", f"use the operation of torch, or: {CAPTURE}")
    return None


def _no(flow: Flow, node: ast.expr, reason: str, advice: str) -> RefusedError:
    text = " ".join(flow.context.source.segment(node).split())
    return RefusedError(_CLAIM, f"{text} {reason}", node.lineno, advice)


def _is_tensor(flow: Flow, state: State, node: ast.expr) -> bool:
    return flow.evaluate(node, state)[0].kind is Kind.TENSOR
