"""What only a GPU shows: tensors, generators and clocks of the device, in this process and in those of a check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.equivalence.compare import compare
from gbfix.equivalence.example import Drawn, Example, Listed, TensorRecipe
from gbfix.equivalence.model import Difference, Job, Mode, Observation, Parameter, Settings, Status, Target, Verdict
from gbfix.equivalence.observation import observe_call
from gbfix.equivalence.pool import run_jobs
from gbfix.equivalence.recipes import build
from gbfix.evidence.model import ArgumentsSeen

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device here"),
]

DEVICE = "cuda"
PARAMETER = Parameter("x", "POSITIONAL_OR_KEYWORD")
BEFORE = """
import torch

def step(x):
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
"""
RIGHT = """
import torch

def step(x):
    y = torch.where(x.sum() > 0, x * 2.0, x + 1.0)
    return y
"""


def _example(**options: Any) -> Example:
    options = {"dtype": "float32", "shape": (2, 3), "values": Drawn(1), **options}
    return Example((("x", TensorRecipe(**options)),))


def _observed(function: Callable[[torch.Tensor], object], device: str = DEVICE) -> Observation:
    args, kwargs = build(_example(requires_grad=True), [PARAMETER], device)
    return observe_call(function, args, kwargs, names=["x"])


def _differences(
    one: Callable[[torch.Tensor], object], other: Callable[[torch.Tensor], object]
) -> set[tuple[str, str]]:
    found = compare(_observed(one), _observed(other), Mode.EAGER)
    return {(difference.aspect, difference.where) for difference in found}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dtype": "float16"},
        {"dtype": "bfloat16", "layout": "transposed"},
        {"dtype": "int64", "layout": "sliced"},
        {"layout": "offset", "requires_grad": True},
        {"layout": "expanded", "expanded": (0,)},
        {"shape": (0, 3)},
        {"shape": (3,), "values": Listed((float("nan"), -0.0, float("inf")))},
    ],
)
def test_recipe_gives_the_same_tensor_on_every_device(options: dict[str, Any]) -> None:
    example = _example(**options)
    (there,), _ = build(example, [PARAMETER], DEVICE)
    (here,), _ = build(example, [PARAMETER], "cpu")
    assert there.device.type == DEVICE
    assert (there.dtype, there.shape, there.stride()) == (here.dtype, here.shape, here.stride())
    assert there.storage_offset() == here.storage_offset()
    assert there.requires_grad == here.requires_grad
    assert there.is_leaf
    integers = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}
    bits = integers.get(here.dtype, here.dtype)
    assert torch.equal(there.detach().cpu().contiguous().view(bits), here.detach().contiguous().view(bits))


def test_observation_names_the_device_and_its_generator() -> None:
    observation = _observed(lambda x: x * 2)
    assert observation.result is not None
    assert observation.result.tensor is not None
    assert observation.result.tensor.device == "cuda:0"
    assert "cuda:0" in observation.random
    assert observation.gradients["x"] is not None
    assert compare(observation, _observed(lambda x: x * 2), Mode.EAGER) == ()


def test_result_on_another_device_is_a_difference() -> None:
    assert ("device", "result") in _differences(lambda x: x * 2, lambda x: (x * 2).cpu())


def test_arguments_on_another_device_are_a_difference() -> None:
    found = compare(_observed(lambda x: x * 2), _observed(lambda x: x * 2, "cpu"), Mode.EAGER)
    assert "device" in {difference.aspect for difference in found}


def test_random_number_drawn_on_the_device_is_a_difference() -> None:
    def draws(x: torch.Tensor) -> torch.Tensor:
        torch.rand(3, device=x.device)
        return x * 2

    assert {aspect for aspect, _ in _differences(lambda x: x * 2, draws)} == {"random"}
    state = torch.cuda.get_rng_state()
    _observed(draws)
    assert torch.equal(torch.cuda.get_rng_state(), state)


def test_value_written_by_a_kernel_is_seen() -> None:
    assert ("value", "result") in _differences(lambda x: x.sum(), lambda x: x.sum() + 1)


# -- checks, each in processes of its own ---------------------------------------------------------


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Verdict]:
    def run(rewritten: str, **settings: Any) -> Verdict:
        file = tmp_path / "model.py"
        file.write_text(BEFORE)
        spec = ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", (4, 3), (3, 1), device="cuda:0"))
        chosen = replace(Settings(device=DEVICE, examples=30, compiled_examples=4, seconds=120), **settings)
        target = Target("model:step", str(file), "model", str(tmp_path), "step")
        texts = {str(file): BEFORE}, {str(file): rewritten}
        job = Job(target, *texts, seen=(ArgumentsSeen({"x": spec}),), settings=chosen)
        ((_, verdict),) = run_jobs([job], 1)
        return verdict

    return run


def _found(verdict: Verdict) -> tuple[Difference, ...]:
    assert verdict.status is Status.DIFFERENT, verdict.reason
    assert verdict.counterexample is not None
    return verdict.counterexample.differences


def test_right_rewrite_is_equal_on_the_device(check: Callable[..., Verdict]) -> None:
    verdict = check(RIGHT)
    assert verdict.status is Status.EQUAL, verdict.reason
    assert verdict.device == DEVICE
    assert verdict.original is not None
    assert verdict.rewritten is not None
    assert verdict.rewritten.graphs < verdict.original.graphs
    assert not any(branch.missing for branch in verdict.branches)


def test_wrong_rewrite_differs_on_the_device(check: Callable[..., Verdict]) -> None:
    assert "value" in {each.aspect for each in _found(check(RIGHT.replace("x + 1.0", "x + 3.0")))}


def test_rewrite_that_leaves_the_device_differs(check: Callable[..., Verdict]) -> None:
    assert "device" in {each.aspect for each in _found(check(RIGHT.replace("return y", "return y.cpu()")))}


def test_rewrite_that_draws_on_the_device_differs(check: Callable[..., Verdict]) -> None:
    draws = RIGHT.replace("    return y", "    torch.rand(1, device=x.device)\n    return y")
    assert "random" in {each.aspect for each in _found(check(draws))}


def test_inductor_is_equal_and_timed_by_the_clock_of_the_device(check: Callable[..., Verdict]) -> None:
    verdict = check(RIGHT, backend="inductor", bench=True, examples=20, compiled_examples=2, seconds=180)
    assert verdict.status is Status.EQUAL, verdict.reason
    bench = verdict.bench
    assert bench is not None
    assert bench.device == DEVICE
    assert bench.original.kernels is not None
    assert bench.rewritten.kernels is not None
    assert bench.rewritten.kernels <= bench.original.kernels
    assert bench.low <= bench.ratio <= bench.high
    assert 0 < min(bench.rewritten.steady) < 0.1
