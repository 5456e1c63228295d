"""From the recipe of a call to its arguments, to one line for people, and to source text."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from typing import Any

import torch

from gbfix.equivalence.example import Constant, Container, Example, Expression, Recipe, SameAs, TensorRecipe
from gbfix.equivalence.model import Parameter
from gbfix.equivalence.tensor_recipes import layout_of, make_tensor
from gbfix.equivalence.tensor_source import number_texts, tensor_source

_SHOWN_ELEMENTS = 6
_BY_POSITION = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")


def build(example: Example, parameters: Sequence[Parameter], device: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Fresh arguments for one call: positional where the parameter's kind allows it, else by keyword.

    The global random number generators are left alone. Raises what `torch.load` and `Expression` sources raise.
    """
    if example.given is not None:
        args, kwargs = torch.load(io.BytesIO(example.given.data), weights_only=False, map_location=device)
        return tuple(args), dict(kwargs)
    made: dict[str, Any] = {}
    for name, recipe in example.arguments:
        made[name] = _make(recipe, made, device)
    positional, keywords = _sides(example, parameters)
    args = [made[name] for name in positional if not name.startswith("*")]
    kwargs = {name: made[name] for name in keywords if not name.startswith("*")}
    for name in made:
        if name.startswith("**"):
            kwargs.update(made[name])
        elif name.startswith("*"):
            args.extend(made[name])
    return tuple(args), kwargs


def call_text(example: Example) -> str:
    """The call in one short line: "x=float32[2, 3] [nan, 1.0, ...], n=3, grad off"."""
    if example.given is not None:
        parts = [example.given.text]
    else:
        parts = [f"{name}={_short(recipe)}" for name, recipe in example.arguments]
    if not example.grad_enabled:
        parts.append("grad off")
    if example.training is not None:
        parts.append("train" if example.training else "eval")
    if example.module_seed:
        parts.append(f"module seed {example.module_seed}")
    return ", ".join(part for part in parts if part)


def arguments_source(example: Example, parameters: Sequence[Parameter], device: str) -> tuple[str, str]:
    """Statements that make the arguments as `build` does, and the text to put between the parentheses of the call.

    Needs only `import torch`. Tensors become variables with the names of their parameters.
    """
    if example.given is not None:
        return _given_source(example.given.data, device), "*args, **kwargs"
    statements: list[str] = []
    texts = {name: _source(name.lstrip("*"), recipe, device, statements) for name, recipe in example.arguments}
    positional, keywords = _sides(example, parameters)
    call = [texts[name] for name in positional if not name.startswith("*")]
    call += [f"*{texts[name]}" for name in texts if name.startswith("*") and not name.startswith("**")]
    call += [f"{name}={texts[name]}" for name in keywords if not name.startswith("*")]
    call += [f"**{texts[name]}" for name in texts if name.startswith("**")]
    return "\n".join(statements), ", ".join(call)


def _sides(example: Example, parameters: Sequence[Parameter]) -> tuple[list[str], list[str]]:
    """The names of the arguments to pass by position, and those by keyword: all after one that is left out."""
    given = [name for name, _ in example.arguments]
    positional: list[str] = []
    for parameter in parameters:
        if parameter.kind not in _BY_POSITION or parameter.name not in given:
            break
        positional.append(parameter.name)
    return positional, [name for name in given if name not in positional]


def _make(recipe: Recipe, made: dict[str, Any], device: str) -> Any:  # noqa: ANN401
    match recipe:
        case TensorRecipe():
            return make_tensor(recipe, device)
        case Constant(value):
            return value
        case Expression(source):
            return eval(source, {"torch": torch})
        case SameAs(argument, view=False):
            return made[argument]
        case SameAs(argument):
            return made[argument].detach().requires_grad_(made[argument].requires_grad)
        case Container("dict", items):
            return {key: _make(item, made, device) for key, item in items}
        case Container(kind, items):
            values = [_make(item, made, device) for _, item in items]
            return tuple(values) if kind == "tuple" else values
    raise TypeError(recipe)


def _source(name: str, recipe: Recipe, device: str, statements: list[str]) -> str:
    match recipe:
        case TensorRecipe():
            statements.extend(tensor_source(name, recipe, device))
            return name
        case Constant(value):
            return constant_source(value)
        case Expression(source):
            return source
        case SameAs(argument, view=False):
            return argument
        case SameAs(argument):
            statements.append(f"{name} = {argument}.detach().requires_grad_({argument}.requires_grad)")
            return name
        case Container(kind, items):
            texts = [_source(f"{name}_{_identifier(key)}", item, device, statements) for key, item in items]
            if kind == "dict":
                return f"{{{', '.join(f'{k!r}: {text}' for (k, _), text in zip(items, texts, strict=True))}}}"
            return f"({', '.join(texts)}{',' * (len(texts) == 1)})" if kind == "tuple" else f"[{', '.join(texts)}]"
    raise TypeError(recipe)


def _identifier(key: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in key)


def constant_source(value: object) -> str:
    """A plain Python value as source that needs no import."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value!r}")'
    if isinstance(value, complex):
        return f"complex({constant_source(value.real)}, {constant_source(value.imag)})"
    return repr(value)


def _given_source(data: bytes, device: str) -> str:
    text = base64.b64encode(data).decode()
    where = "" if device == "cpu" else f", map_location={device!r}"
    load = f"torch.load(io.BytesIO(base64.b64decode(saved)), weights_only=False{where})"
    return f'import base64, io\nsaved = "{text}"\nargs, kwargs = {load}'


def _short(recipe: Recipe) -> str:
    match recipe:
        case TensorRecipe():
            return tensor_text(make_tensor(recipe, "cpu")) + _layout_text(recipe)
        case Constant(value):
            return repr(value)
        case Expression(source):
            return source
        case SameAs(argument, view):
            return f"view of {argument}" if view else argument
        case Container("dict", items):
            return f"{{{', '.join(f'{key}: {_short(item)}' for key, item in items)}}}"
        case Container(kind, items):
            texts = ", ".join(_short(item) for _, item in items)
            return f"({texts})" if kind == "tuple" else f"[{texts}]"
    raise TypeError(recipe)


def _layout_text(recipe: TensorRecipe) -> str:
    layout = layout_of(recipe)
    return "" if layout == "contiguous" else f" {layout}"


def tensor_text(tensor: torch.Tensor) -> str:
    """A tensor in a few words: dtype, shape, its first elements, and whether it requires gradients."""
    shown = number_texts(tensor.detach().flatten()[:_SHOWN_ELEMENTS].cpu())
    more = ", ..." if tensor.numel() > _SHOWN_ELEMENTS else ""
    elements = ", ".join(shown).replace("torch.", "") + more
    grad = " requires grad" if tensor.requires_grad else ""
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)} [{elements}]{grad}"
