"""The helpers of `gbfix.equivalence` as pytest fixtures. Loaded by every run of pytest: it imports no torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

_GPU = "gpu: needs a CUDA device"


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of written tests, unless the project has one of that name."""
    known = [str(line).partition(":")[0].partition("(")[0].strip() for line in config.getini("markers")]
    if "gpu" not in known:
        config.addinivalue_line("markers", _GPU)


@pytest.fixture(scope="session")
def assert_equivalent() -> Callable[..., None]:
    """`gbfix.equivalence.assert_equivalent`."""
    from gbfix.equivalence.public import assert_equivalent

    return assert_equivalent


@pytest.fixture(scope="session")
def assert_graphs() -> Callable[..., None]:
    """`gbfix.equivalence.assert_graphs`."""
    from gbfix.equivalence.graph_counts import assert_graphs

    return assert_graphs


@pytest.fixture(scope="session")
def tensors() -> Callable[..., Any]:
    """`gbfix.equivalence.tensors`."""
    from gbfix.equivalence.tensor_strategy import tensors

    return tensors
