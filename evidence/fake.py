"""Operations of PyTorch on fake tensors, for the arms of a branch: shape, dtype, strides and device without data.

The facts come from PyTorch's own FakeTensorMode, which also knows devices that this machine has not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from gbfix.analysis.fakes import Argument
from gbfix.analysis.observations import TensorSpec

if TYPE_CHECKING:
    from torch._subclasses.fake_tensor import FakeTensorMode


class FakeOperations:
    """Runs operations on fake tensors; PyTorch is imported with the first one, and without it nothing is known."""

    def __init__(self) -> None:
        self._mode: FakeTensorMode | None = None
        self._known: dict[object, TensorSpec | None] = {}

    def call(
        self, name: str, runs: Sequence[tuple[Sequence[Argument], Mapping[str, Argument]]]
    ) -> list[TensorSpec] | None:
        """The result of the operation called `name` for each run; None when one raises or is not one dense tensor."""
        results = []
        for arguments, keywords in runs:
            key = (name, repr(arguments), repr(keywords))
            if key not in self._known:
                self._known[key] = self._call(name, arguments, keywords)
            result = self._known[key]
            if result is None:
                return None
            results.append(result)
        return results

    def _call(self, name: str, arguments: Sequence[Argument], keywords: Mapping[str, Argument]) -> TensorSpec | None:
        try:
            import torch
            from torch._subclasses.fake_tensor import FakeTensorMode
        except ImportError:
            return None
        operation = _operation(name)
        if operation is None:
            return None
        if self._mode is None:
            # PyTorch logs every operation that fails on fake tensors; here failing is an answer.
            logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL + 1)
            self._mode = FakeTensorMode()
        try:
            with self._mode, torch.no_grad():
                made = [_made(argument) for argument in arguments]
                return _spec_of(operation(*made, **{word: _made(keywords[word]) for word in keywords}))
        except Exception:
            # Whatever PyTorch raises here says that this call does not work, or cannot be tried.
            return None


def _operation(name: str) -> Callable[..., object] | None:
    """The method of tensors of this name, or else the function of torch or torch.nn.functional."""
    import torch

    for place in (torch.Tensor, torch, torch.nn.functional):
        found = getattr(place, name, None)
        if callable(found):
            return cast("Callable[..., object]", found)
    return None


def _made(argument: Argument) -> object:
    """A fake tensor for a spec (called inside the mode), a dtype for its dotted name, other literals as they are."""
    import torch

    if isinstance(argument, TensorSpec):
        shape = tuple(int(size) for size in argument.shape)
        stride = tuple(int(step) for step in argument.stride)
        dtype = getattr(torch, argument.dtype)
        return torch.empty_strided(shape, stride, dtype=dtype, device=argument.device)
    if isinstance(argument, str) and argument.startswith("torch."):
        return getattr(torch, argument.removeprefix("torch."))
    return argument


def _spec_of(result: object) -> TensorSpec | None:
    import torch

    if not isinstance(result, torch.Tensor) or result.layout is not torch.strided:
        return None
    dtype = str(result.dtype).removeprefix("torch.")
    return TensorSpec(dtype, tuple(result.shape), tuple(result.stride()), str(result.device))
