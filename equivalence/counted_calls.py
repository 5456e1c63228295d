"""The calls that counts were made of, which went through: what their arguments looked like."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.equivalence.example import Constant, Container, Example, Listed, Recipe, TensorRecipe
from gbfix.equivalence.model import CountedCall, Parameter
from gbfix.equivalence.recipes import arguments_source
from gbfix.equivalence.tensor_source import LISTED_ELEMENTS
from gbfix.evidence.model import ArgumentsSeen


def seen_in(calls: Sequence[CountedCall], parameters: Sequence[Parameter], device: str) -> tuple[ArgumentsSeen, ...]:
    """The arguments of each call as recorded ones are described. Runs the calls' own source, which gbfix wrote."""
    names = [each.name for each in parameters if each.kind.startswith("POSITIONAL")]
    found = []
    for call in calls:
        space = _made(call, device)
        arguments = _by_name(call.arguments, names, space)
        found.append(ArgumentsSeen({name: _spec(value) for name, value in arguments}))
    return tuple(found)


def spelled_out(call: CountedCall, parameters: Sequence[Parameter], device: str) -> CountedCall | None:
    """A call of saved arguments (see `recipes.arguments_source`) with every tensor element by element.

    None where that would be no source that a person reads: large tensors, views on them, modules and other objects.
    """
    if "torch.load" not in call.statements:
        return call
    space = _made(call, device)
    args, kwargs = tuple(space["args"]), dict(space["kwargs"])
    names = [each.name for each in parameters if each.kind.startswith("POSITIONAL")]
    names += [f"argument_{i}" for i in range(len(names), len(args))]
    recipes = [(name, _recipe(value)) for name, value in [*zip(names, args, strict=False), *kwargs.items()]]
    known = tuple((name, recipe) for name, recipe in recipes if recipe is not None)
    if len(known) != len(recipes):
        return None
    by_position = [Parameter(name, "POSITIONAL_OR_KEYWORD") for name in names[: len(args)]]
    statements, arguments = arguments_source(Example(known), by_position, device)
    return replace(call, statements=statements, arguments=arguments)


def _made(call: CountedCall, device: str) -> dict[str, Any]:
    """The variables that the statements set, on the CPU: this process need not have the device."""
    space: dict[str, Any] = {"torch": torch}
    exec(call.statements.replace(repr(device), repr("cpu")), space)
    return space


def _recipe(value: object) -> Recipe | None:
    if isinstance(value, torch.Tensor):
        plain = type(value) is torch.Tensor and value.layout is torch.strided and value.device.type == "cpu"
        if not plain or not value.is_contiguous() or value.numel() > LISTED_ELEMENTS:
            return None
        numbers = Listed(tuple(value.detach().flatten().tolist()))
        dtype = str(value.dtype).removeprefix("torch.")
        return TensorRecipe(dtype, tuple(value.shape), numbers, requires_grad=value.requires_grad)
    if value is None or type(value) in (bool, int, float, complex, str):
        return Constant(value)  # type: ignore[arg-type]
    if type(value) in (list, tuple):
        items = [(str(i), _recipe(item)) for i, item in enumerate(value)]  # type: ignore[arg-type,var-annotated]
        known = tuple((key, item) for key, item in items if item is not None)
        return Container(type(value).__name__, known) if len(known) == len(items) else None
    return None


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
