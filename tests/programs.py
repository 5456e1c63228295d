"""Runs a program file eagerly and compiled, and describes everything that can be observed.

A program is a file with a function to call (`ENTRY`) and inputs (`inputs()`, fresh tensors at every call), given
by an `inputs.py` beside it. Two versions of a program are the same when their observations are equal.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch
import torch._dynamo


@dataclass(frozen=True)
class Inputs:
    """What to call: the entry's name, a maker of fresh argument tuples, and whether gradients are compared.

    recompiled: what a recorded run would show to be compiled again, as arguments of `recompiled.Sizes`.
    """

    entry: str
    make: Callable[[], list[tuple[Any, ...]]]
    gradients: bool
    recompiled: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Run:
    """The observations of one version, one a call, and the number of graphs that were compiled."""

    observations: list[Any]
    graphs: int


def load_inputs(folder: Path) -> Inputs:
    """Read `inputs.py` of a golden case."""
    module = _load(folder / "inputs.py")
    return Inputs(module.ENTRY, module.inputs, getattr(module, "GRAD", False), getattr(module, "RECOMPILED", ()))


def run(path: Path, inputs: Inputs, *, compiled: bool) -> Run:
    """Load a program afresh and call it on every input, with torch.compile counting graphs or switched off."""
    torch._dynamo.reset()
    graphs: list[Any] = []

    def count(graph_module: Any, _example_inputs: Any) -> Any:
        graphs.append(graph_module)
        return graph_module.forward

    with _compile_with(count if compiled else None):
        module = _load(path)
        observations = [_call(getattr(module, inputs.entry), args, inputs.gradients) for args in inputs.make()]
    return Run(observations, len(graphs))


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"program_{abs(hash(path))}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Dynamo looks up the globals of decorated functions by module name.
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _compile_with(backend: Callable[..., Any] | None) -> Iterator[None]:
    real = torch.compile

    def replacement(model: Any = None, **options: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__", "").split(".")[0] == "torch":
            return real(model, **options)
        if model is None:
            return lambda function: replacement(function, **options)
        if backend is None:
            return model
        return real(model, **{**options, "backend": backend, "mode": None})

    with mock.patch.object(torch, "compile", replacement):
        yield


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(0)
        self.rows: list[tuple[str, str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.split(".")[0] not in ("torch", "filelock"):
            self.rows.append((record.name, record.levelname, record.getMessage()))


def _call(function: Callable[..., Any], args: tuple[Any, ...], gradients: bool) -> Any:
    torch.manual_seed(0)
    text, records, root = io.StringIO(), _Records(), logging.getLogger()
    level = root.level
    root.addHandler(records)
    root.setLevel(1)
    value = None
    try:
        with contextlib.redirect_stdout(text), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                value = function(*args)
                outcome: Any = ("returned", describe(value, args))
            except Exception as error:
                outcome = ("raised", type(error).__name__, str(error).split("\n")[0])
    finally:
        root.removeHandler(records)
        root.setLevel(level)
    state = torch.get_rng_state().numpy().tobytes()
    said = sorted({str(w.message) for w in caught if "torch/" not in (w.filename or "")})
    after = [describe(argument, ()) for argument in args]
    return (
        outcome,
        text.getvalue(),
        records.rows,
        said,
        after,
        _gradients(value, args) if gradients else None,
        hash(state),
    )


def describe(value: Any, args: tuple[Any, ...]) -> Any:
    """A value as plain data: types, bits, dtypes, shapes, strides, requires_grad, and identity with arguments."""
    if isinstance(value, torch.Tensor):
        same = [index for index, argument in enumerate(args) if argument is value]
        data = value.detach()
        facts = (str(value.dtype), tuple(value.shape), value.stride(), value.requires_grad)
        return ("tensor", *facts, repr(data.tolist()), same)
    if isinstance(value, tuple | list):
        return (type(value).__name__, [describe(part, args) for part in value])
    if isinstance(value, dict):
        return ("dict", [(key, describe(part, args)) for key, part in value.items()])
    if hasattr(value, "__dict__") and not isinstance(value, type | torch.nn.Module):
        return (type(value).__name__, [(key, describe(part, args)) for key, part in vars(value).items()])
    return (type(value).__name__, repr(value))


def _gradients(value: Any, args: tuple[Any, ...]) -> Any:
    """The gradients of the arguments; None stays apart from zeros. A zero has no sign here, which the rules say."""
    tensors = [part for part in _leaves(value) if part.requires_grad]
    if not tensors:
        return None
    torch.stack([part.double().sum() for part in tensors]).sum().backward()
    leaves = [argument for argument in _leaves(args) if argument.is_leaf]
    return [None if leaf.grad is None else repr((leaf.grad + 0.0).tolist()) for leaf in leaves]


def _leaves(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in _leaves(part)]
    return []
