"""Recompiles of a small program, made by hand as a recorded run would show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.analysis.recompiles import EntrySeen, Line, RecompileSeen
from gbfix.analysis.source import SourceFile


@dataclass(frozen=True)
class Sizes:
    """A function that was compiled for each of these calls; a call is the shape of each tensor argument, by name.

    compiled_at: a piece of the line that compiles it, empty for a decorator. others: what is different in the recompile
    or its entry.
    """

    function: str
    calls: Sequence[Mapping[str, Any]]
    compiled_at: str = ""
    dynamic: bool | None = None
    others: Mapping[str, Any] = field(default_factory=dict)


def recompiles_of(source: SourceFile, *given: Sizes) -> dict[str, tuple[RecompileSeen, ...]]:
    """The recompiles of a file's functions."""
    return {source.path: tuple(_seen(source, one) for one in given)}


def _seen(source: SourceFile, sizes: Sizes) -> RecompileSeen:
    (function,) = (one for one in source.functions if one.qualname == sizes.function)
    at = Line(source.path, source.span(function.node).line)
    lines = (number for number, text in enumerate(source.lines, 1) if sizes.compiled_at in text)
    compiled_at = Line(source.path, next(lines)) if sizes.compiled_at else at
    arguments = tuple({name: spec(shape) for name, shape in call.items()} for call in sizes.calls)
    entry = EntrySeen(sizes.function, at, compiled_at, dynamic=sizes.dynamic, calls=len(arguments), arguments=arguments)
    seen = RecompileSeen(at, function.name, "size", compiles=len(arguments), entries=(entry,))
    return RecompileSeen(**{**vars(seen), **sizes.others})


def spec(value: Any) -> ValueSpec:
    """A float tensor of a shape; a list of shapes, or a dict of them; anything else as it is, by its text."""
    if isinstance(value, tuple):
        strides = tuple(prod(value[place + 1 :]) for place in range(len(value)))
        return ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", value, strides))
    if isinstance(value, list):
        return ValueSpec("list", "list", items=tuple((str(key), spec(item)) for key, item in enumerate(value)))
    if isinstance(value, dict):
        return ValueSpec("dict", "dict", items=tuple((key, spec(item)) for key, item in value.items()))
    return ValueSpec(type(value).__name__, type(value).__name__, value=repr(value))
