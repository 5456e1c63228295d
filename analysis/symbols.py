"""Sizes that Dynamo left open ("s0", "2*s0 + 1"), as numbers.

A graph with open sizes serves every call that passes its guards. What rules ask of sizes (equal, broadcast, one
element) is asked for two choices of numbers, larger primes that differ from symbol to symbol: sizes that agree for both
are the same expression, but for coincidences that sizes in programs do not have.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from gbfix.analysis.observations import Observation, Size, TensorSpec, ValueSpec

_PRIMES = ((101, 103, 107, 109, 113, 127, 131, 137, 139, 149), (211, 223, 227, 229, 233, 239, 241, 251, 257, 263))
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def without_symbols(observation: Observation) -> tuple[Observation, ...]:
    """The observation itself, or one for each choice of numbers; empty where an expression is not understood."""
    texts = {size for spec in _tensors(observation.values) for size in (*spec.shape, *spec.stride)} - {1}
    expressions = sorted(size for size in texts if isinstance(size, str))
    if not expressions:
        return (observation,)
    try:
        trees = {text: ast.parse(text, mode="eval").body for text in expressions}
        names = sorted({n.id for tree in trees.values() for n in ast.walk(tree) if isinstance(n, ast.Name)})
        choices = [dict(zip(names, primes, strict=False)) for primes in _PRIMES]
        if len(names) > len(_PRIMES[0]):
            return ()
        return tuple(_with_numbers(observation, {t: _number(tree, c) for t, tree in trees.items()}) for c in choices)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return ()


def _tensors(values: Mapping[str, ValueSpec]) -> Iterator[TensorSpec]:
    for spec in values.values():
        if spec.tensor is not None:
            yield spec.tensor
        yield from _tensors(dict(spec.items))


def _number(node: ast.expr, choice: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return choice[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, choice)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(left, choice), _number(right, choice))
        case _:
            raise ValueError


def _with_numbers(observation: Observation, numbers: Mapping[str, int]) -> Observation:
    values = {name: _filled(spec, numbers) for name, spec in observation.values.items()}
    return replace(observation, values=values)


def _filled(spec: ValueSpec, numbers: Mapping[str, int]) -> ValueSpec:
    def filled(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
        return tuple(numbers[size] if isinstance(size, str) else size for size in sizes)

    tensor = spec.tensor
    if tensor is not None:
        tensor = replace(tensor, shape=filled(tensor.shape), stride=filled(tensor.stride))
    return replace(spec, tensor=tensor, items=tuple((key, _filled(item, numbers)) for key, item in spec.items))
