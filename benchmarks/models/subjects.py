"""What a row of the benchmark is to a worker: a tiny model with random weights, and what it is called with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

Inputs = dict[str, Any]
MakeInputs = Callable[[int, int, torch.Generator], Inputs]
"""Arguments by name, for a batch, a length (or an edge of an image) and a source of random numbers."""
Edit = Callable[[nn.Module, Inputs], None]
"""Changes a model's weights, or the arguments, in place: what is called then takes another branch."""

SHAPES = ((2, 16), (3, 24), (4, 40))


@dataclass(frozen=True)
class Subject:
    """One model, and how it is called.

    inputs: for a call without gradients; None when only its training step is measured. training: for a training
    step; None when it is the same as `inputs`. variants: data that takes other branches.
    """

    model: nn.Module
    inputs: MakeInputs | None
    training: MakeInputs | None = None
    variants: Mapping[str, Edit] = field(default_factory=dict)
    shapes: tuple[tuple[int, int], ...] = SHAPES

    @property
    def for_training(self) -> MakeInputs:
        """What makes the arguments of a training step."""
        chosen = self.training or self.inputs
        assert chosen is not None
        return chosen


Make = Callable[[], Subject]


def generator(seed: int, batch: int, length: int) -> torch.Generator:
    """Random numbers that depend on nothing else."""
    return torch.Generator().manual_seed(seed * 1_000_003 + batch * 1009 + length)


def token_ids(batch: int, length: int, source: torch.Generator, vocabulary: int, first: int = 20) -> Tensor:
    """Ordinary tokens: special ones have small numbers in these models."""
    return torch.randint(first, vocabulary, (batch, length), generator=source)


def padded(batch: int, length: int, *, left: bool = False) -> Tensor:
    """An attention mask whose first row is padded by three."""
    mask = torch.ones(batch, length, dtype=torch.long)
    mask[0, slice(0, 3) if left else slice(length - 3, length)] = 0
    return mask


def without_broken_weights(model: nn.Module) -> nn.Module:
    """The same model, with numbers where a model leaves memory as it finds it until weights are loaded."""
    source = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        if not bool(torch.isfinite(parameter).all()) or float(parameter.detach().abs().max()) > 1e4:
            with torch.no_grad():
                parameter.copy_(torch.randn(parameter.shape, generator=source) * 0.02)
    return model


def overflowing(*norms: str) -> Edit:
    """Make these layer norms give infinities beside the largest finite number."""

    def edit(model: nn.Module, _inputs: Inputs) -> None:
        for name in norms:
            norm: Any = model.get_submodule(name)
            largest = torch.finfo(norm.weight.dtype).max
            norm.weight.fill_(largest)
            norm.weight[0] = 0.0
            norm.bias[0] = largest

    return edit


def not_a_number(*norms: str) -> Edit:
    """Make these layer norms give NaN in one column."""

    def edit(model: nn.Module, _inputs: Inputs) -> None:
        for name in norms:
            norm: Any = model.get_submodule(name)
            norm.bias[1] = torch.nan

    return edit
