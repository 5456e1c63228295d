"""The comparison of layers notices a wrong rewrite: tried on a small layer, without transformers."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"gbfix_benchmarks_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # dataclasses look their module up by name.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
    return module


check = _load("transformers_check")
layers = _load("transformers_layers")


class Layer(nn.Module):
    """A layer norm and a finite check, in the form under test."""

    def __init__(self, finite_check: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.final_layer_norm = nn.LayerNorm(layers.WIDTH)
        self.finite_check = finite_check

    def forward(self, hidden_states: Tensor, **_arguments: object) -> Tensor:
        normed = self.final_layer_norm(hidden_states)
        return self.finite_check(normed, _clamped(normed))


def _clamped(x: Tensor) -> Tensor:
    limit = torch.finfo(x.dtype).max - 1000
    return torch.clamp(x, min=-limit, max=limit)


def original(x: Tensor, clamped: Tensor) -> Tensor:
    if not torch.isfinite(x).all():
        x = clamped
    return x


def rewritten(x: Tensor, clamped: Tensor) -> Tensor:
    return torch.where(torch.isfinite(x).all(), x, clamped)


def element_by_element(x: Tensor, clamped: Tensor) -> Tensor:
    return torch.where(torch.isfinite(x), x, clamped)


def always(_x: Tensor, clamped: Tensor) -> Tensor:
    return clamped


def never(x: Tensor, _clamped: Tensor) -> Tensor:
    return x


def without_gradient(x: Tensor, clamped: Tensor) -> Tensor:
    return torch.where(torch.isfinite(x).all(), x, clamped.detach())


def drawing_random_numbers(x: Tensor, clamped: Tensor) -> Tensor:
    torch.rand(1)
    return torch.where(torch.isfinite(x).all(), x, clamped)


@cache
def _observe(finite_check: Callable[[Tensor, Tensor], Tensor], values: str) -> dict[str, Any]:
    return asdict(layers.observe("tiny", values, lambda: Layer(finite_check).half()))


def _differences(finite_check: Callable[[Tensor, Tensor], Tensor], values: str) -> list[str]:
    found: list[str] = check.differences(_observe(original, values), _observe(finite_check, values))
    return found


@pytest.mark.parametrize("values", layers.VALUES)
def test_a_right_rewrite_differs_in_nothing(values: str) -> None:
    assert _differences(rewritten, values) == []


@pytest.mark.parametrize(
    ("wrong", "values"),
    [(element_by_element, "overflow"), (always, "largest"), (never, "overflow")],
)
def test_a_wrong_value_is_noticed(wrong: Callable[[Tensor, Tensor], Tensor], values: str) -> None:
    assert {"eager: output", "compiled: output"} <= set(_differences(wrong, values))


def test_a_lost_gradient_is_noticed_though_values_agree() -> None:
    found = _differences(without_gradient, "overflow")
    assert "eager: output" not in found
    assert "eager: gradient of final_layer_norm.bias" in found


def test_a_drawn_random_number_is_noticed_though_values_agree() -> None:
    assert _differences(drawing_random_numbers, "ordinary") == ["eager: random state", "compiled: random state"]


def test_values_reach_both_sides_of_the_check() -> None:
    reached = {values: _observe(original, values) for values in layers.VALUES}
    assert [reached[values]["not_finite_before_check"] > 0 for values in layers.VALUES] == [False, False, True, True]
    assert reached["overflow"]["not_finite_in_output"] == 0
    assert reached["nan"]["not_finite_in_output"] > 0


def test_graphs_are_counted() -> None:
    before, after = _observe(original, "overflow"), _observe(rewritten, "overflow")
    assert (before["graphs"], after["graphs"]) == (2, 1)
    assert (before["in_one_graph"], after["in_one_graph"]) == (False, True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.tensor([0.0]), torch.tensor([-0.0])),
        (torch.zeros(2), None),
        (torch.zeros(2), torch.zeros(2, dtype=torch.int32)),
        (torch.zeros(2, 2), torch.zeros(4)),
        (torch.arange(4.0).reshape(2, 2), torch.tensor([[0.0, 2.0], [1.0, 3.0]]).t()),
        (torch.zeros(1), torch.zeros(1, requires_grad=True)),
    ],
)
def test_the_description_tells_apart_what_equality_would_not(one: Tensor, other: Tensor | None) -> None:
    assert layers.describe(one) != layers.describe(other)
