"""Operations on fake tensors give what they give on real ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from gbfix.analysis.observations import TensorSpec
from gbfix.evidence.fake import FakeOperations


def spec(tensor: torch.Tensor) -> TensorSpec:
    return TensorSpec(
        str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), tensor.stride(), str(tensor.device)
    )


X = torch.randn(4, 6)
W = torch.randn(5, 6)
HALF = torch.randn(6, 4, dtype=torch.float16).t()
CASES: list[tuple[str, list[object], dict[str, object], Callable[[], torch.Tensor]]] = [
    ("linear", [X, W], {}, lambda: torch.nn.functional.linear(X, W)),
    ("reshape", [X, -1, 3], {}, lambda: X.reshape(-1, 3)),
    ("sum", [X], {"dim": 1, "keepdim": True}, lambda: X.sum(dim=1, keepdim=True)),
    ("sum", [X], {"dtype": "torch.float64"}, lambda: X.sum(dtype=torch.float64)),
    ("softmax", [HALF], {"dim": -1}, lambda: HALF.softmax(dim=-1)),
    ("mul", [HALF, 2.0], {}, lambda: HALF * 2.0),
    ("__getitem__", [X, (slice(1, None), None)], {}, lambda: X[1:, None]),
    ("relu", [HALF], {}, lambda: HALF.relu()),
]


@pytest.mark.parametrize(("name", "arguments", "keywords", "real"), CASES, ids=[str(case[0]) for case in CASES])
def test_the_result_is_that_of_the_operation(
    name: str, arguments: list[object], keywords: dict[str, object], real: Callable[[], torch.Tensor]
) -> None:
    given = [spec(argument) if isinstance(argument, torch.Tensor) else argument for argument in arguments]
    assert FakeOperations().call(name, [(given, keywords)]) == [spec(real())]


def test_an_operation_that_raises_in_one_run_gives_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    fakes = FakeOperations()
    assert fakes.call("matmul", [((spec(X), spec(W)), {})]) is None
    assert fakes.call("add", [((spec(X), spec(X)), {}), ((spec(X), spec(W)), {})]) is None
    assert fakes.call("no_such_operation", [((spec(X),), {})]) is None
    assert capfd.readouterr() == ("", "")


def test_a_result_that_is_no_single_tensor_gives_nothing() -> None:
    assert FakeOperations().call("max", [((spec(X),), {"dim": 0})]) is None


def test_devices_that_this_machine_has_not() -> None:
    there = TensorSpec("float32", (2, 3), (3, 1), "cuda:0")
    (found,) = FakeOperations().call("add", [((there, there), {})]) or [None]
    assert found == there
