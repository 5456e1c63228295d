"""The calls that counts were made of, which went through: what their arguments looked like."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.equivalence.model import CountedCall, Parameter
from gbfix.evidence.model import ArgumentsSeen


def seen_in(calls: Sequence[CountedCall], parameters: Sequence[Parameter]) -> tuple[ArgumentsSeen, ...]:
    """The arguments of each call as recorded ones are described. Runs the calls' own source, which gbfix wrote."""
    names = [each.name for each in parameters if each.kind.startswith("POSITIONAL")]
    found = []
    for call in calls:
        space: dict[str, Any] = {"torch": torch}
        exec(call.statements, space)
        arguments = _by_name(call.arguments, names, space)
        found.append(ArgumentsSeen({name: _spec(value) for name, value in arguments}))
    return tuple(found)


def _by_name(text: str, names: Sequence[str], space: dict[str, Any]) -> Iterator[tuple[str, object]]:
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    for index, node in enumerate(call.args):
        if index < len(names) and not isinstance(node, ast.Starred):
            yield names[index], eval(ast.unparse(node), space)
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, eval(ast.unparse(keyword.value), space)


def _spec(value: object) -> ValueSpec:
    kind, type_name = type(value).__name__, f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        tensor = TensorSpec(dtype, tuple(value.shape), value.stride(), str(value.device), value.requires_grad)
        return ValueSpec("tensor", type_name, tensor)
    if value is None:
        return ValueSpec("none", "NoneType")
    if isinstance(value, bool | int | float | complex | str):
        return ValueSpec(kind, kind, value=repr(value))
    if isinstance(value, list | tuple):
        return ValueSpec(kind, kind, items=tuple((str(i), _spec(item)) for i, item in enumerate(value)))
    if isinstance(value, dict):
        return ValueSpec(kind, kind, items=tuple((str(key), _spec(item)) for key, item in value.items()))
    return ValueSpec("object", type_name)
