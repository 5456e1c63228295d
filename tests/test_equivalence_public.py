from __future__ import annotations

import logging
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gbfix.equivalence import assert_equivalent, assert_graphs, tensors


def message(check: Callable[..., None], *args: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        check(*args, **options)
    return str(caught.value)


def branching(x: torch.Tensor, n: float = 2) -> torch.Tensor:
    if x.sum() > 0:
        return x * n
    return -x


def selecting(x: torch.Tensor, n: float = 2) -> torch.Tensor:
    return torch.where(x.sum() > 0, x * n, -x)


def test_equal_functions_pass_with_every_form_of_inputs() -> None:
    x = torch.tensor([1.0, -3.0])
    assert_equivalent(branching, selecting, x)
    assert_equivalent(branching, selecting, (x, 3))
    assert_equivalent(branching, selecting, {"x": x, "n": 3})
    assert_equivalent(branching, selecting, ((x,), {"n": 3}))
    assert_equivalent(branching, selecting, [(x,), {"x": -x}])
    assert_equivalent(branching, selecting, tensors(2, layouts=False), examples=5)
    assert_equivalent(branching, selecting, st.tuples(tensors(2, layouts=False), st.just(3)), examples=5)
    assert_equivalent(branching, selecting, lambda: [(x,)])
    assert_equivalent(torch.compile(branching), selecting, x)


def test_what_generators_yield_and_coroutines_return_is_compared() -> None:
    def parts(x: torch.Tensor, factor: float) -> Iterator[torch.Tensor]:
        yield x
        yield x * factor

    async def product(x: torch.Tensor, factor: float) -> torch.Tensor:
        return x * factor

    for function in (parts, product):
        assert_equivalent(lambda x, f=function: f(x, 2), lambda x, f=function: f(x, 2), torch.ones(2), compiled=False)
        text = message(
            assert_equivalent,
            lambda x, f=function: f(x, 2),
            lambda x, f=function: f(x, 3),
            torch.ones(2),
            compiled=False,
        )
        assert "2.0 (old), 3.0 (new)" in text


def test_a_list_without_calls_is_refused() -> None:
    with pytest.raises(ValueError, match="inputs is empty"):
        assert_equivalent(branching, selecting, [])
    with pytest.raises(ValueError, match="inputs is empty"):
        assert_graphs(branching, [])


def test_a_difference_names_arguments_mode_and_values() -> None:
    text = message(assert_equivalent, branching, lambda x: x * 3, [(torch.ones(2),)])
    assert text.startswith("branching (old) and <lambda> (new) differ, eager, for x=float32[2] [1.0, 1.0]")
    assert "value of result: 2 of 2 elements: [0] 2.0 (old), 3.0 (new)" in text


def test_a_strategy_is_shrunk() -> None:
    text = message(assert_equivalent, branching, lambda x: torch.where(x.sum() >= 0, x * 2, -x), tensors(None, 2))
    assert "for x=float32[1, 2] [0.0, 0.0]" in text
    assert "-0.0 (old), 0.0 (new)" in text


@settings(max_examples=5, deadline=None)
@given(tensors(2, layouts=False))
def test_arguments_of_given_are_taken(x: torch.Tensor) -> None:
    assert_equivalent(branching, selecting, (x,))


def says(x: torch.Tensor) -> torch.Tensor:
    print("a")
    return x + 1


def warns(x: torch.Tensor) -> torch.Tensor:
    warnings.warn("a", stacklevel=1)
    return x + 1


def logs(x: torch.Tensor) -> torch.Tensor:
    logging.getLogger("program").warning("a")
    return x + 1


def raises(x: torch.Tensor) -> torch.Tensor:
    raise ValueError(f"{x.ndim}")


def draws(x: torch.Tensor) -> torch.Tensor:
    torch.rand(1)
    return x + 1


def returns_argument(x: torch.Tensor) -> torch.Tensor:
    return x


def detaches(x: torch.Tensor) -> torch.Tensor:
    return x.detach() + 1


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (says, "stdout: 'a\\n' (new)"),
        (warns, "warning"),
        (logs, "log"),
        (raises, "ValueError"),
        (draws, "random"),
        (returns_argument, "result"),
        (detaches, "requires_grad"),
        (lambda x: (x + 1).double(), "dtype of result: float32 (old), float64 (new)"),
        (lambda x: (x + 1)[None], "shape of result"),
        (lambda x: (x + 1).tolist(), "type of result"),
        (lambda x: x.detach() + x.mean() - x.mean() + 1 + 0 * x, "gradient of x"),
    ],
)
def test_each_kind_of_difference_is_seen(new: Callable[..., Any], expected: str) -> None:
    text = message(assert_equivalent, lambda x: x + 1, new, torch.tensor([1.0, 2.0], requires_grad=True))
    assert expected in text


def test_the_callers_arguments_stay_as_they_are() -> None:
    x = torch.ones(3, 2).t()
    assert_equivalent(lambda x: x.mul_(2).stride(), lambda x: x.mul_(2) is None or (1, 2), x)
    assert torch.equal(x, torch.ones(2, 3))
    assert "value of argument x" in message(assert_equivalent, lambda x: x.sum(), lambda x: x.mul_(2).sum() / 2, x)


def test_arguments_that_share_memory_do_so_on_both_sides() -> None:
    def first(x: torch.Tensor, y: torch.Tensor) -> float:
        return x.add_(1).sum() + y.sum()

    def second(x: torch.Tensor, y: torch.Tensor) -> float:
        return y.add_(1).sum() + x.sum()

    x = torch.zeros(4)
    assert_equivalent(first, second, (x[:2], x[:2]))
    assert "argument y" in message(assert_equivalent, first, second, (x[:2], x[2:]))


def test_only_the_compiled_program_differs() -> None:
    def new(x: torch.Tensor) -> torch.Tensor:
        return x + 2 if torch.compiler.is_compiling() else x + 1

    assert_equivalent(lambda x: x + 1, new, torch.ones(2), compiled=False)
    assert "compiled, for x=" in message(assert_equivalent, lambda x: x + 1, new, torch.ones(2))


def test_a_tolerance_allows_small_differences_of_values() -> None:
    x = torch.tensor([1.0, 3.0])
    message(assert_equivalent, lambda x: x / 3, lambda x: x * (1 / 3) * (1 + 1e-6), x)
    assert_equivalent(lambda x: x / 3, lambda x: x * (1 / 3) * (1 + 1e-6), x, tolerance=(1e-5, 0.0))
    message(assert_equivalent, lambda x: x / 3, lambda x: x * 0.34, x, tolerance=(1e-5, 0.0))


def test_grad_mode_and_gradients_can_be_switched_off() -> None:
    x = torch.tensor([0.0], requires_grad=True)

    def new(x: torch.Tensor) -> torch.Tensor:
        return x.abs() + 0 * x.detach() if x.grad_fn is None else x

    def one_sided(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x < 0, -x, x)

    assert "gradient of x" in message(assert_equivalent, new, one_sided, x, compiled=False)
    assert_equivalent(new, one_sided, x, gradients=False, compiled=False)
    with torch.no_grad():
        assert_equivalent(new, one_sided, x, compiled=False)


class Old(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.linear(x)


class New(Old):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.linear(x)


class CountsTwice(Old):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 2
        return self.linear(x)


def alike(new: Old) -> tuple[Old, Old]:
    old = Old()
    new.load_state_dict(old.state_dict())
    return old, new


def test_modules_and_their_methods() -> None:
    old, new = alike(New())
    assert_equivalent(old, new, tensors(None, 2, layouts=False), examples=5)
    assert_equivalent(old.forward, new.forward, torch.ones(1, 2))
    assert_equivalent(torch.compile(old), new, torch.ones(1, 2))
    assert old.calls == new.calls == 0


def test_state_of_modules_is_compared() -> None:
    old, new = alike(CountsTwice())
    assert "value of state self.calls: 1 (old), 2 (new)" in message(assert_equivalent, old, new, torch.ones(1, 2))


def test_modules_with_different_parameters_are_told_at_once() -> None:
    text = message(assert_equivalent, Old(), New(), torch.ones(1, 2))
    assert "different parameters or buffers, the first is linear.weight" in text
    assert "new.load_state_dict(old.state_dict())" in text


def test_classes_of_the_functions_own_modules_may_live_elsewhere() -> None:
    class WrongError(Exception):
        pass

    def fails(x: torch.Tensor) -> torch.Tensor:
        raise WrongError(x.ndim)

    def make() -> Callable[..., Any]:
        class WrongError(Exception):
            pass

        def fails(x: torch.Tensor) -> torch.Tensor:
            raise WrongError(x.ndim)

        return fails

    assert_equivalent(fails, make(), torch.ones(2), compiled=False)


# -- assert_graphs -------------------------------------------------------------------------------


def test_one_graph_without_recompiles() -> None:
    assert_graphs(selecting, torch.ones(2))
    assert_graphs(selecting, [(torch.ones(2),), (torch.zeros(2),)], breaks=0, fullgraph=True)


def test_graphs_breaks_and_fullgraph_are_told_with_their_place() -> None:
    line = branching.__code__.co_firstlineno + 1
    text = message(assert_graphs, branching, torch.ones(2), fullgraph=True, breaks=0)
    assert text.startswith("branching: the first call gives 2 graphs, not 1; ")
    assert "breaks the graph at 1 line, not 0" in text
    assert "fullgraph=True fails: " in text
    assert f"test_equivalence_public.py:{line}: GB0170 Data-dependent branching" in text
    assert_graphs(branching, torch.ones(2), graphs=2, breaks=1, fullgraph=False)
    assert "fullgraph=True succeeds" in message(assert_graphs, selecting, torch.ones(2), fullgraph=False)


def test_recompiles_are_told_with_their_guard() -> None:
    calls = [torch.ones(2), torch.ones(3), torch.ones(4)]
    text = message(assert_graphs, selecting, calls)
    assert "the calls after the first give 1 recompilation, not 0" in text
    assert "tensor 'x' size mismatch at index 0. expected 2, actual 3" in text
    assert_graphs(selecting, calls, recompiles=1)


def test_what_is_compiled_keeps_its_options_but_for_the_backend() -> None:
    compiled = torch.compile(selecting, dynamic=True, backend="inductor")
    assert_graphs(compiled, [torch.ones(2), torch.ones(3)])


def in_a_loop(x: torch.Tensor) -> torch.Tensor:
    for number in range(2):
        print(number)
        x = x + 1
    return x


def test_a_frame_that_runs_in_python_is_an_error() -> None:
    text = message(assert_graphs, in_a_loop, torch.ones(2))
    assert "0 graphs, not 1; PyTorch runs a function in Python, without compiling it" in text
    assert "runs in Python: in_a_loop at " in text
    assert_graphs(in_a_loop, torch.ones(2), graphs=0)


def test_a_function_that_calls_compiled_ones_is_called_as_it_is() -> None:
    inner = torch.compile(selecting)

    def outer(x: torch.Tensor) -> torch.Tensor:
        total = inner(x).sum()
        return inner(x[:1]) if total > 0 else total

    assert_graphs(outer, torch.ones(3), graphs=2, breaks=0)


def test_counting_leaves_pytorch_as_it_was() -> None:
    from torch import _logging

    before = _logging.trace_structured  # type: ignore[attr-defined]
    compiled = torch.compile(selecting, backend="eager")
    assert_graphs(selecting, torch.ones(2))
    assert _logging.trace_structured is before  # type: ignore[attr-defined]
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 2.0))


def test_exceptions_of_the_function_are_passed_on() -> None:
    with pytest.raises(ValueError, match="1"):
        assert_graphs(raises, torch.ones(2))


# -- tensors -------------------------------------------------------------------------------------


def drawn(strategy: st.SearchStrategy[Any], count: int = 60) -> list[Any]:
    found: list[Any] = []

    @settings(max_examples=count, deadline=None, database=None, derandomize=True)
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def test_sizes_are_numbers_free_named_or_strategies() -> None:
    for x, y in drawn(st.tuples(tensors("n", None, 3, max_side=5), tensors(st.just(2), "n", max_side=5))):
        assert x.shape[0] == y.shape[1] <= 5
        assert (x.shape[2], y.shape[0]) == (3, 2)
    sizes = {x.shape[0] for x in drawn(tensors(None, min_side=1, max_side=3))}
    assert sizes == {1, 2, 3}


def test_values_are_ordinary_and_special() -> None:
    found = drawn(tensors(2, 3, layouts=False), 200)
    assert any(x.isnan().any() for x in found)
    assert any(x.isinf().any() for x in found)
    assert any(((x == 0) & x.signbit()).any() for x in found)
    assert any((x == torch.finfo(x.dtype).max).any() for x in found)
    assert any(len(set(x.flatten().tolist())) == 6 for x in found)
    assert all(x.isfinite().all() for x in drawn(tensors(2, 3, special=False)))


def test_layouts_and_dtypes_vary() -> None:
    found = drawn(tensors(2, 3, dtype=[torch.float16, torch.int32, torch.bool]), 100)
    assert {x.dtype for x in found} == {torch.float16, torch.int32, torch.bool}
    assert {x.is_contiguous() for x in found} == {True, False}
    assert any(0 in x.stride() for x in found)
    assert any(x.storage_offset() for x in found)
    assert not any(x.requires_grad for x in found)
    assert all(x.is_contiguous() for x in drawn(tensors(2, 3, layouts=False)))


def test_elements_stay_within_bounds_and_gradients_are_optional() -> None:
    assert all(int(x.min()) >= 0 and int(x.max()) <= 4 for x in drawn(tensors(5, dtype=torch.int64, low=0, high=4)))
    assert {x.requires_grad for x in drawn(tensors(2, requires_grad=None))} == {True, False}
    assert all(x.is_leaf and x.requires_grad for x in drawn(tensors(2, requires_grad=True)))
    assert all(x.shape == () for x in drawn(tensors()))


def test_sizes_and_bounds_without_tensors_are_refused() -> None:
    for make in (
        lambda: tensors(-1),
        lambda: tensors(None, min_side=3, max_side=2),
        lambda: tensors(low=2, high=1),
        lambda: tensors(dtype=[]),
    ):
        with pytest.raises(ValueError, match=r".+"):
            make()
    with pytest.raises(TypeError, match=r"torch\.float32"):
        tensors(2, dtype="float32")  # type: ignore[arg-type]


def test_the_data_of_a_check_imports_no_torch() -> None:
    code = "import gbfix.equivalence.model, sys; sys.exit('torch' in sys.modules or 'hypothesis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
