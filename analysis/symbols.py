"""Sizes that Dynamo left open ("s0", "2*s0 + 1"), as numbers.

A graph with open sizes serves every call that passes its guards. What rules ask of sizes (equal, broadcast, one
element, none) is asked for two choices of numbers, primes that differ from symbol to symbol and lie far apart. That
decides it for sums and products, which grow with their symbols. Other expressions agree for some sizes and not for
others, or reach zero ("s0 - 2", "s0//16"), and an unbacked size ("u0") may be anything: a tensor with such a size is
taken for something unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gbfix.analysis.observations import Observation, Size, TensorSpec, ValueSpec

_CHOICES = (
    (101, 103, 107, 109, 113, 127, 131, 137, 139, 149),
    (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091, 10093),
)
_BACKED = "s"
"""Sizes of inputs begin with this letter; Dynamo never leaves 0 and 1 open among them."""


def without_symbols(observation: Observation) -> tuple[Observation, ...]:
    """The observation itself, or one for each choice of numbers."""
    sizes = {size for spec in _tensors(observation.values) for size in (*spec.shape, *spec.stride)}
    texts = sorted(size for size in sizes if isinstance(size, str))
    if not texts:
        return (observation,)
    trees = {text: tree for text in texts if (tree := _parsed(text)) is not None}
    symbols = sorted({n.id for tree in trees.values() for n in ast.walk(tree) if isinstance(n, ast.Name)})
    if len(symbols) > len(_CHOICES[0]):
        trees = {}
    choices = [dict(zip(symbols, numbers, strict=False)) for numbers in _CHOICES]
    return tuple(
        replace(observation, values=_filled(observation.values, {t: _number(tree, c) for t, tree in trees.items()}))
        for c in choices
    )


def _tensors(values: Mapping[str, ValueSpec]) -> Iterator[TensorSpec]:
    for spec in values.values():
        if spec.tensor is not None:
            yield spec.tensor
        yield from _tensors(dict(spec.items))


def _parsed(text: str) -> ast.expr | None:
    """An expression of sums and products of backed sizes, None for any other."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if name.startswith(_BACKED):
                pass
            case ast.Constant(value=int(number)) if number > 0:
                pass
            case ast.BinOp(op=ast.Add() | ast.Mult()) | ast.Add() | ast.Mult() | ast.Load():
                pass
            case _:
                return None
    return tree


def _number(node: ast.expr, choice: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return choice[name]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _number(left, choice) + _number(right, choice)
        case ast.BinOp(left=left, right=right):
            return _number(left, choice) * _number(right, choice)
        case _:
            raise AssertionError(ast.dump(node))  # `_parsed` lets nothing else through


def _filled(values: Mapping[str, ValueSpec], numbers: Mapping[str, int]) -> dict[str, ValueSpec]:
    return {name: _filled_one(spec, numbers) for name, spec in values.items()}


def _filled_one(spec: ValueSpec, numbers: Mapping[str, int]) -> ValueSpec:
    items = tuple(_filled(dict(spec.items), numbers).items())
    if spec.tensor is None:
        return replace(spec, items=items)
    shape, stride = _numbers(spec.tensor.shape, numbers), _numbers(spec.tensor.stride, numbers)
    if shape is None or stride is None:
        return ValueSpec("object", spec.type)
    return replace(spec, tensor=replace(spec.tensor, shape=shape, stride=stride))


def _numbers(sizes: tuple[Size, ...], numbers: Mapping[str, int]) -> tuple[int, ...] | None:
    found = [numbers.get(size) if isinstance(size, str) else size for size in sizes]
    known = tuple(size for size in found if size is not None)
    return known if len(known) == len(found) else None
