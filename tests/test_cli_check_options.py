from __future__ import annotations

import os
from pathlib import Path

import pytest

from gbfix.cli.check_options import Choices, check_choices, check_device, tolerance, workers
from gbfix.engine.model import ConfigurationError
from gbfix.equivalence.model import Settings, Tolerance

ONE = ("model:step",)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (Choices(overlay=True, original="x"), "--overlay and --original both say what is compared"),
        (Choices(overlay=True, rewritten="x"), "--overlay and --rewritten both say what is compared"),
        (Choices(overlay=True, unsafe=True), "--unsafe choose among pending fixes"),
        (Choices(original="HEAD", selects=True), "--select and --ignore choose among pending fixes"),
        (Choices(original=__file__), "a file stands for that of one target; name the target"),
        (Choices(("a:b", "c:d"), rewritten=__file__), "a file stands for that of one target"),
        (Choices(factory="m:f"), "--factory is for one target; name the target"),
        (Choices(("a:b", "c:d"), inputs="m:f"), "--inputs is for one target"),
        (Choices(ONE, inputs="m"), "--inputs m: write module:name"),
        (Choices(ONE, inputs="tests/m.py:f"), "write module:name"),
        (Choices(ONE, bench=True, jobs=2), "--bench needs the machine for itself"),
        (Choices(ONE, ray="auto", jobs=2), "--ray spreads the targets by itself"),
    ],
)
def test_options_that_do_not_go_together(choices: Choices, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        check_choices(choices)


@pytest.mark.parametrize(
    "choices",
    [
        Choices(),
        Choices(unsafe=True, selects=True),
        Choices(("a:b", "c:d"), original="HEAD~1", rewritten=str(Path(__file__).parent)),
        Choices(ONE, factory="m:f", inputs="m.n:f", original=__file__, bench=True, jobs=1),
        Choices(("a:b", "c:d"), ray="auto", overlay=True),
    ],
)
def test_options_that_do(choices: Choices) -> None:
    check_choices(choices)


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "mps", ""])
def test_devices_that_are_none(device: str) -> None:
    with pytest.raises(ConfigurationError, match="is none of cpu, cuda and cuda:N"):
        check_device(device)
    assert check_device("cuda:1") == "cuda:1"


def test_values_are_equal_bit_for_bit_unless_a_tolerance_is_given() -> None:
    assert tolerance(None, None) is None
    assert tolerance(0.5, None) == Tolerance(0.5, 0.0)
    assert tolerance(None, 0.25) == Tolerance(0.0, 0.25)


def test_how_many_targets_run_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    for processors, expected in ((1, 1), (2, 1), (8, 2), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda processors=processors: processors)
        assert workers(None, Settings()) == expected
    assert workers(7, Settings()) == 7
    assert workers(None, Settings(bench=True)) == 1
