"""Timing two versions in processes of their own, with a backend that costs nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gbfix.equivalence import bench as benching
from gbfix.equivalence import stopwatch
from gbfix.equivalence.bench import bench, ratio_with_spread
from gbfix.equivalence.example import Constant, Drawn, Example, TensorRecipe
from gbfix.equivalence.model import Bench, CheckError, Mode, Settings, Target
from gbfix.equivalence.stopwatch import ColdStart, CountKernels, Round, Started, Stopwatch
from gbfix.equivalence.subject import Subject

ORIGINAL = """\
import torch


def step(x: torch.Tensor, fails: bool) -> torch.Tensor:
    for _ in range(20):
        x = x.sin()
    return x
"""
REWRITTEN = ORIGINAL.replace("20", "1")
RAISES = ORIGINAL.replace("    for", "    if fails:\n        raise ValueError('not\\nnow')\n    for")


def _subject(folder: Path, text: str) -> Subject:
    file = folder / "program.py"
    file.write_text(ORIGINAL)
    target = Target("program:step", str(file), "program", str(folder), "step")
    return Subject(target, {str(file): text}, Mode.COMPILED, Settings())


def _example(*, fails: bool = False) -> Example:
    return Example((("x", TensorRecipe("float32", (64, 64), Drawn(0))), ("fails", Constant(fails))))


def _bench(folder: Path, original: str, rewritten: str, example: Example) -> Bench:
    subjects = [_subject(folder, original), _subject(folder, rewritten)]
    try:
        return bench(subjects[0], subjects[1], example)
    finally:
        for subject in subjects:
            subject.close()


def test_less_work_takes_less_time_and_fewer_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benching, "ROUNDS", benching.FEWEST_ROUNDS)
    found = _bench(tmp_path, ORIGINAL, REWRITTEN, _example())
    assert found.low <= found.ratio <= found.high
    assert found.high < 1.0
    assert not found.within_noise
    assert (found.original.kernels, found.rewritten.kernels) == (20, 1)
    assert len(found.original.steady) == len(found.rewritten.steady) == benching.FEWEST_ROUNDS
    assert found.original.cold_start > 10 * max(found.original.steady)  # it compiles
    assert found.device == "cpu"


def test_a_call_that_raises_is_not_timed(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match=r"not timed: the call raises ValueError: not now"):
        _bench(tmp_path, ORIGINAL, RAISES, _example(fails=True))


# -- the spread ----------------------------------------------------------------------------------


def test_the_ratio_is_that_of_the_medians_within_the_spread_of_the_rounds() -> None:
    original = (1.0, 1.1, 0.9, 1.0, 1.2, 1.0, 1.0)
    rewritten = tuple(2 * seconds for seconds in original)
    assert ratio_with_spread(original, rewritten) == (2.0, 2.0, 2.0)
    ratio, low, high = ratio_with_spread(original, (1.0, 0.9, 1.1, 1.0, 1.0, 1.3, 0.8))
    assert low < 1.0 < high
    assert low <= ratio <= high


def test_a_slow_moment_of_the_machine_does_not_widen_the_spread_of_many_rounds() -> None:
    original = (1.0,) * 15
    rewritten = (2.0, 2.1, 1.9) * 4 + (2.0, 50.0, 0.1)
    _, low, high = ratio_with_spread(original, rewritten)
    assert (low, high) == (1.9, 2.1)


@pytest.mark.parametrize(("rounds", "left_out"), [(1, 0), (5, 0), (7, 0), (9, 1), (15, 3)])
def test_as_many_values_are_left_out_as_leave_95_percent(rounds: int, left_out: int) -> None:
    # Order statistics of the median, from the binomial distribution: tables of the sign test have the same numbers.
    ratios = tuple(float(number) for number in range(1, rounds + 1))
    _, low, high = ratio_with_spread((1.0,) * rounds, ratios)
    assert (low, high) == (1.0 + left_out, float(rounds - left_out))


# -- in the process of a version -----------------------------------------------------------------


@pytest.fixture
def cold_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ColdStart:
    for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(stopwatch, "ROUND_SECONDS", 0.001)
    return ColdStart(Example(), str(tmp_path))


def _watch(function: Callable[..., object], *arguments: Any) -> Stopwatch:
    return Stopwatch(lambda _: function, lambda _: (tuple(each() for each in arguments), {}), "cpu")


def test_a_call_that_writes_into_its_arguments_gets_new_ones(cold_start: ColdStart) -> None:
    seen = []

    def write(x: torch.Tensor, found: list[int]) -> None:
        seen.append((x.sum().item(), len(found)))
        x.add_(1)
        found.append(1)

    watch = _watch(write, lambda: torch.zeros(3), list)
    assert isinstance(watch.answer(cold_start), Started)
    watch.answer(Round(5))
    assert set(seen) == {(0.0, 0)}


def test_a_call_that_does_not_gets_the_same_ones(cold_start: ColdStart) -> None:
    seen = []
    watch = _watch(lambda x: seen.append(x), lambda: torch.zeros(3))
    watch.answer(cold_start)
    seen.clear()
    assert isinstance(watch.answer(Round(5)), float)
    assert len(seen) == 5
    assert len({id(x) for x in seen}) == 1


def test_nothing_is_compiled_any_more_when_the_rounds_begin(cold_start: ColdStart) -> None:
    compiled = []

    def backend(graph: torch.fx.GraphModule, _inputs: object) -> Callable[..., object]:
        compiled.append(graph)
        return graph.forward

    sizes = iter([2, 2, 5, 5, 7, *[7] * 10_000])
    function = torch.compile(lambda x: x + 1, backend=backend, dynamic=False)
    watch = _watch(function, lambda: torch.zeros(next(sizes)))
    watch.answer(cold_start)
    assert len(compiled) == 3
    watch.answer(Round(3))
    assert len(compiled) == 3


def test_the_cache_is_the_given_folder_and_gradients_are_as_the_example_says(cold_start: ColdStart) -> None:
    seen = set()
    watch = _watch(lambda: seen.add((os.environ["TORCHINDUCTOR_CACHE_DIR"], torch.is_grad_enabled())))
    watch.answer(ColdStart(Example(grad_enabled=False), cold_start.cache))
    assert seen == {(cold_start.cache, False)}
    assert torch.is_grad_enabled()


def test_operators_inside_others_are_not_counted(cold_start: ColdStart) -> None:
    watch = _watch(lambda x: x.reshape(3).softmax(0), lambda: torch.zeros(3, 1))
    watch.answer(cold_start)
    assert watch.answer(CountKernels()) == 2
    nothing = _watch(lambda: None)
    nothing.answer(cold_start)
    assert nothing.answer(CountKernels()) is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device here")
def test_kernels_and_times_of_a_gpu(cold_start: ColdStart) -> None:
    watch = Stopwatch(lambda _: lambda x: x.sin().cos(), lambda _: ((torch.ones(9, device="cuda"),), {}), "cuda")
    started = watch.answer(cold_start)
    assert isinstance(started, Started)
    assert started.device == "cuda"
    seconds = watch.answer(Round(10))
    assert isinstance(seconds, float)
    assert 0 < seconds < 0.1
    assert watch.answer(CountKernels()) == 2
