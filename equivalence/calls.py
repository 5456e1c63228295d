"""Arguments that a person's own test gives: read from the forms a test may use, copied for each side, and as text."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from gbfix.equivalence.recipes import tensor_text

_LONGEST_TEXT = 120


@dataclass(frozen=True)
class Call:
    """The arguments of one call."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)


def call_of(arguments: object) -> Call:
    """A tuple holds positional arguments, a dict those given by name, a tuple of a tuple and a dict both.

    Anything else is the only argument.
    """
    match arguments:
        case (tuple(positional), dict(by_name)) if type(arguments) is tuple:
            return Call(positional, by_name)
        case tuple() if type(arguments) is tuple:  # and no namedtuple
            return Call(arguments)
        case dict() if all(isinstance(name, str) for name in arguments):
            return Call((), arguments)
    return Call((arguments,))


def calls_of(inputs: object) -> list[Call]:
    """A list of the arguments of calls, or the arguments of one."""
    return [call_of(each) for each in inputs] if isinstance(inputs, list) else [call_of(inputs)]


def copied(call: Call) -> Call:
    """The same call with objects of its own.

    Strides, requires_grad, classes such as nn.Parameter, and which arguments are the same object or share memory stay
    as they are. A tensor that was computed from others becomes a leaf.
    """
    memo: dict[int, Any] = {}
    for tensor in _tensors([*call.args, *call.kwargs.values()]):
        if not tensor.is_leaf:
            memo[id(tensor)] = copy.deepcopy(tensor.detach(), memo).requires_grad_(tensor.requires_grad)
    return Call(copy.deepcopy(call.args, memo), copy.deepcopy(dict(call.kwargs), memo))


def _tensors(values: Sequence[object]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += _tensors(value)
        elif isinstance(value, dict):
            found += _tensors(list(value.values()))
    return found


def positional_names(function: Callable[..., Any], count: int) -> tuple[str, ...]:
    """Names for `count` positional arguments: those of the parameters, else "args[0]"."""
    target = function.forward if isinstance(function, torch.nn.Module) else function
    names: list[str] = []
    rest = "args"
    try:
        for parameter in inspect.signature(target).parameters.values():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(parameter.name)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                rest = parameter.name
    except (TypeError, ValueError):  # a function that Python knows no signature of
        pass
    return tuple(names[i] if i < len(names) else f"{rest}[{i - len(names)}]" for i in range(count))


def call_text(call: Call, names: Sequence[str]) -> str:
    """One line for people: "x=float32[2, 3] [nan, 1.0, ...], n=3"."""
    named = [*zip(names, call.args, strict=True), *call.kwargs.items()]
    text = ", ".join(f"{name}={_text(value)}" for name, value in named) or "no arguments"
    return text if torch.is_grad_enabled() else f"{text}, grad off"


def _text(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return _tensor_text(value)
    if isinstance(value, torch.nn.Module):
        return f"{type(value).__name__}()"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        inside = ", ".join(_text(item) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    text = repr(value)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def _tensor_text(tensor: torch.Tensor) -> str:
    name = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout is not torch.strided:
        return f"{name}{list(tensor.shape)} {str(tensor.layout).removeprefix('torch.')}"
    strides = "" if tensor.is_contiguous() else f" strides {tuple(tensor.stride())}"
    device = "" if tensor.device.type == "cpu" else f" {tensor.device}"
    return f"{tensor_text(tensor)}{strides}{device}"
