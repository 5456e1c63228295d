"""Every operation of the table is run on PyTorch and held against what the table says of it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from gbfix.analysis import operators as table
from gbfix.analysis.operators import OPERATORS, Dtype, Gradient, Need, Operator, Shape

DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
]
INTEGERS = {torch.uint8, torch.int32, torch.int64}
INEXACT = {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64}

LAYOUTS: dict[str, Callable[[], Tensor]] = {
    "0-d": lambda: torch.tensor(3.0),
    "1-d": lambda: torch.tensor([1.0, 2.0, 3.0]),
    "one element": lambda: torch.tensor([2.0]),
    "contiguous": lambda: torch.arange(1.0, 7.0).reshape(2, 3),
    "transposed": lambda: torch.arange(1.0, 7.0).reshape(2, 3).t(),
    "permuted": lambda: torch.arange(1.0, 25.0).reshape(2, 3, 4).permute(2, 0, 1),
    "every second": lambda: torch.arange(1.0, 25.0).reshape(4, 6)[::2, ::2].t(),
    "expanded": lambda: torch.tensor([[1.0, 2.0, 3.0]]).expand(2, 3),
    "expanded and permuted": lambda: torch.ones(3, 1, 2).expand(3, 4, 2).permute(1, 2, 0),
    "empty": lambda: torch.zeros(0, 3).t(),
}

FINITE_VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 6.0, 88.0, -88.0, 200.0, -200.0, 6e4, -6e4]
ALL_VALUES = [*FINITE_VALUES, float("inf"), float("-inf"), float("nan")]


def function(name: str) -> Callable[..., Any]:
    """The operation as a function: of a tensor's class, of torch, or of torch.nn.functional."""
    for home in (F, torch, torch.Tensor):
        found = getattr(home, name, None)
        if callable(found):
            return found  # type: ignore[no-any-return]
    raise AssertionError(f"PyTorch has no operation {name}")


_EXTRA: dict[str, tuple[Any, ...]] = {
    "softmax": (-1,),
    "log_softmax": (-1,),
    "softmin": (-1,),
    "cumsum": (0,),
    "roll": (1,),
    "clamp": (0, 2),
    "clip": (0, 2),
    "clamp_min": (1,),
    "clamp_max": (1,),
}
"""What follows the first operand, for operations of one tensor that need more."""

_BINARY = {name for name, operator in OPERATORS.items() if operator.operands == 2} - {"masked_fill"}


def arguments(name: str, x: Tensor) -> tuple[Any, ...]:
    """Operands for an element-wise operation or a reduction: `x`, and others like it."""
    if name == "where":
        return (torch.ones_like(x, dtype=torch.bool), x, x.clone())
    if name in _BINARY:
        return (x, x.clone(memory_format=torch.preserve_format))
    if name == "masked_fill":
        return (x, torch.ones_like(x, dtype=torch.bool), 1)
    if name in ("flip", "logsumexp"):
        return (x, tuple(range(x.dim())))
    return (x, *_EXTRA.get(name, ()))


def floats(*shape: int) -> Tensor:
    count = 1
    for size in shape:
        count *= size
    return torch.linspace(-1.0, 1.0, count).reshape(shape) if count else torch.zeros(shape)


def indices(*values: int) -> Tensor:
    return torch.tensor(values)


EXAMPLES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "matmul": lambda: (floats(2, 3), floats(3, 4)),
    "mm": lambda: (floats(2, 3), floats(3, 4)),
    "bmm": lambda: (floats(2, 3, 4), floats(2, 4, 2)),
    "mv": lambda: (floats(2, 3), floats(3)),
    "dot": lambda: (floats(3), floats(3)),
    "linear": lambda: (floats(2, 3), floats(4, 3), floats(4)),
    "layer_norm": lambda: (floats(2, 3), (3,), floats(3), floats(3)),
    "rms_norm": lambda: (floats(2, 3), (3,), floats(3)),
    "group_norm": lambda: (floats(2, 4, 3), 2, floats(4), floats(4)),
    "conv1d": lambda: (floats(1, 2, 5), floats(3, 2, 2), floats(3)),
    "conv2d": lambda: (floats(1, 2, 5, 5), floats(3, 2, 2, 2), floats(3)),
    "conv3d": lambda: (floats(1, 2, 3, 3, 3), floats(3, 2, 2, 2, 2), floats(3)),
    "scaled_dot_product_attention": lambda: (floats(1, 4, 8), floats(1, 4, 8), floats(1, 4, 8)),
    "embedding": lambda: (indices(0, 2, 1), floats(3, 4)),
    "mse_loss": lambda: (floats(2, 3), floats(2, 3)),
    "l1_loss": lambda: (floats(2, 3), floats(2, 3)),
    "smooth_l1_loss": lambda: (floats(2, 3), floats(2, 3)),
    "cross_entropy": lambda: (floats(2, 3), indices(0, 2)),
    "nll_loss": lambda: (floats(2, 3), indices(0, 2)),
    "binary_cross_entropy_with_logits": lambda: (floats(2, 3), floats(2, 3).abs()),
    "kl_div": lambda: (floats(2, 3), floats(2, 3).abs()),
    "normalize": lambda: (floats(2, 3),),
    "pad": lambda: (floats(2, 3), (0, 0)),
    "interpolate": lambda: (floats(1, 2, 4), 4),
    "avg_pool1d": lambda: (floats(1, 2, 4), 1),
    "avg_pool2d": lambda: (floats(1, 2, 4, 4), 1),
    "max_pool1d": lambda: (floats(1, 2, 4), 1),
    "max_pool2d": lambda: (floats(1, 2, 4, 4), 1),
    "adaptive_avg_pool2d": lambda: (floats(1, 2, 4, 4), 4),
    "one_hot": lambda: (indices(0, 2, 1),),
    "tril": lambda: (floats(3, 3),),
    "triu": lambda: (floats(3, 3),),
    "cat": lambda: ([floats(2, 3)],),
    "concat": lambda: ([floats(2, 3)],),
    "stack": lambda: ([floats(2, 3)],),
    "einsum": lambda: ("ij->ji", floats(2, 3)),
    "outer": lambda: (floats(2), floats(3)),
    "gather": lambda: (floats(2, 3), 1, torch.zeros(2, 3, dtype=torch.int64)),
    "index_select": lambda: (floats(2, 3), 0, indices(0, 1)),
    "scatter": lambda: (floats(2, 3), 1, torch.zeros(2, 1, dtype=torch.int64), floats(2, 1)),
    "take_along_dim": lambda: (floats(2, 3), torch.zeros(2, 3, dtype=torch.int64), 1),
    "topk": lambda: (floats(2, 3), 2),
    "sort": lambda: (floats(2, 3),),
    "argsort": lambda: (floats(2, 3),),
    "cumprod": lambda: (floats(2, 3), 0),
    "repeat": lambda: (floats(2, 3), 1, 1),
    "tile": lambda: (floats(2, 3), (1, 1)),
    "baddbmm": lambda: (floats(2, 3, 2), floats(2, 3, 4), floats(2, 4, 2)),
    "addmm": lambda: (floats(2, 4), floats(2, 3), floats(3, 4)),
    "addcmul": lambda: (floats(3), floats(3), floats(3)),
    "addcdiv": lambda: (floats(3), floats(3), floats(3)),
    "lerp": lambda: (floats(3), floats(3), floats(3)),
    "dist": lambda: (floats(3), floats(3)),
    "cosine_similarity": lambda: (floats(2, 3), floats(2, 3)),
    "view": lambda: (floats(2, 3), (3, 2)),
    "reshape": lambda: (floats(2, 3), (3, 2)),
    "flatten": lambda: (floats(2, 3),),
    "squeeze": lambda: (floats(2, 1),),
    "unsqueeze": lambda: (floats(2, 3), 0),
    "transpose": lambda: (floats(2, 3), 0, 1),
    "swapaxes": lambda: (floats(2, 3), 0, 1),
    "permute": lambda: (floats(2, 3), (1, 0)),
    "movedim": lambda: (floats(2, 3), 0, 1),
    "expand": lambda: (floats(2, 1), (2, 3)),
    "expand_as": lambda: (floats(2, 1), floats(2, 3)),
    "view_as": lambda: (floats(2, 3), floats(3, 2)),
    "reshape_as": lambda: (floats(2, 3), floats(3, 2)),
    "narrow": lambda: (floats(2, 3), 0, 0, 1),
    "select": lambda: (floats(2, 3), 0, 0),
    "diagonal": lambda: (floats(3, 3),),
    "unflatten": lambda: (floats(2, 6), 1, (2, 3)),
    "t": lambda: (floats(2, 3),),
    "contiguous": lambda: (floats(2, 3),),
    "detach": lambda: (floats(2, 3),),
    "to": lambda: (floats(2, 3), torch.float32),
    "type_as": lambda: (floats(2, 3), floats(1)),
    "nonzero": lambda: (floats(2, 3),),
    "unique": lambda: (floats(2, 3),),
    "masked_select": lambda: (floats(2, 3), floats(2, 3) > 0),
    "argwhere": lambda: (floats(2, 3),),
    "bincount": lambda: (indices(0, 2, 1),),
    "repeat_interleave": lambda: (floats(2, 3), 1),
    "dropout": lambda: (floats(2, 3),),
    "alpha_dropout": lambda: (floats(2, 3), 0.5, True),
    "feature_dropout": lambda: (floats(2, 3), 0.5, True),
    "dropout1d": lambda: (floats(2, 3, 4),),
    "dropout2d": lambda: (floats(2, 3, 4, 4),),
    "dropout3d": lambda: (floats(2, 3, 4, 4, 4),),
    "rrelu": lambda: (floats(2, 3), 0.1, 0.3, True),
    "gumbel_softmax": lambda: (floats(2, 3),),
    "bernoulli": lambda: (floats(2, 3).abs(),),
    "multinomial": lambda: (floats(2, 3).abs(), 2),
}
"""Arguments of one good call, for operations that are neither element-wise nor reductions."""

EXAMPLES = {name: make for name, make in EXAMPLES.items() if name in OPERATORS}
SIMPLE = sorted(name for name in OPERATORS if name not in EXAMPLES)


def meets(need: Need, dtype: torch.dtype) -> bool:
    """Whether a non-empty tensor of ones of a dtype has what an operation needs."""
    match need:
        case Need.NOT_BOOL:
            return dtype is not torch.bool
        case Need.FLOATING:
            return dtype in INEXACT
        case Need.REAL:
            return not dtype.is_complex
        case Need.INTEGRAL:
            return dtype in INTEGERS or dtype is torch.bool
        case _:
            return True


def claimed_dtype(operator: Operator, operands: tuple[Any, ...]) -> torch.dtype | None:
    """The dtype that the table claims for a result; None when it claims nothing."""
    x: Tensor = operands[0]
    number = torch.get_default_dtype()
    match operator.dtype:
        case Dtype.PROMOTE:
            tensor = operands[1] if operator.operands == 3 and isinstance(operands[1], Tensor) else x
            return torch.result_type(tensor, operands[-1])
        case Dtype.SAME:
            return x.dtype
        case Dtype.FLOATING:
            return x.dtype if x.dtype in INEXACT else number
        case Dtype.MAGNITUDE:
            return torch.float32 if x.dtype is torch.complex64 else x.dtype
        case Dtype.BOOL:
            return torch.bool
        case Dtype.TRUTH:
            return torch.uint8 if x.dtype is torch.uint8 else torch.bool
        case Dtype.SUM:
            return x.dtype if x.dtype in INEXACT else torch.int64
        case Dtype.INT64:
            return torch.int64
        case _:
            return None


def outcome(name: str, call_arguments: tuple[Any, ...], **options: object) -> object:
    """What a call gives, or the exception it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(name)(*call_arguments, **options)
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
            return error


def tensors_in(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from tensors_in(part)


def share_memory(first: Tensor, second: Tensor) -> bool:
    return first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr() and first.numel() > 0


WRONG: dict[tuple[str, str], str] = {}
"""What the table is known to say wrongly: by check and operation, with the right claim."""


def checked(check: str, names: Iterable[str]) -> pytest.MarkDecorator:
    """Parameters for a check, one an operation; known mistakes of the table are expected to fail."""
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=WRONG[check, name]))
            if (check, name) in WRONG
            else name
            for name in names
        ],
    )


def test_every_operation_has_an_example() -> None:
    assert set(OPERATORS) == set(SIMPLE) | set(EXAMPLES)
    for name in OPERATORS:
        assert callable(function(name))
    assert not {name for name in SIMPLE if OPERATORS[name].shape in (Shape.CALL, Shape.DATA)}


@checked("needs", SIMPLE)
def test_raises_for_the_dtypes_that_the_needs_exclude_and_no_other(name: str) -> None:
    needs = OPERATORS[name].needs
    wrong = []
    for dtype in DTYPES:
        result = outcome(name, arguments(name, torch.ones(3, dtype=dtype)))
        claimed = all(meets(need, dtype) for need in needs)
        if isinstance(result, Exception) is claimed and not (claimed and Need.FITS in needs):
            wrong.append(f"{dtype}: {result if claimed else 'does not raise'}")
    assert not wrong


@checked("empty", SIMPLE)
def test_raises_for_empty_tensors_only_when_it_needs_elements(name: str) -> None:
    needs = OPERATORS[name].needs
    wrong = []
    for dtype in DTYPES:
        works = not isinstance(outcome(name, arguments(name, torch.ones(3, dtype=dtype))), Exception)
        if works and all(meets(need, dtype) for need in needs):
            result = outcome(name, arguments(name, torch.zeros(0, dtype=dtype)))
            if isinstance(result, Exception) is not (Need.NOT_EMPTY in needs):
                wrong.append(f"{dtype}: {result}")
    assert not wrong


@checked("divisor", sorted(_BINARY & set(SIMPLE)))
def test_integer_zero_is_refused_only_as_a_divisor(name: str) -> None:
    ones = torch.tensor([1, 2])
    if not isinstance(outcome(name, (ones, ones)), Exception):
        refused = isinstance(outcome(name, (ones, torch.tensor([0, 1]))), Exception)
        assert refused is (Need.DIVISOR in OPERATORS[name].needs)


@checked("dtype", SIMPLE)
def test_dtype_is_the_claimed_one(name: str) -> None:
    operator = OPERATORS[name]
    wrong = []
    for dtype in (dtype for dtype in DTYPES if all(meets(need, dtype) for need in operator.needs)):
        for layout in ("0-d", "1-d"):
            x = LAYOUTS[layout]().to(dtype)
            operands = arguments(name, x)
            result = outcome(name, operands)
            claimed = claimed_dtype(operator, operands)
            if isinstance(result, Tensor) and claimed is not None and result.dtype is not claimed:
                wrong.append(f"{dtype}: {result.dtype} instead of {claimed}")
    assert not wrong


@checked("shape", SIMPLE)
def test_shape_is_the_claimed_one(name: str) -> None:
    wrong = []
    for layout, make in LAYOUTS.items():
        x = _suitable(name, make())
        result = outcome(name, arguments(name, x))
        if isinstance(result, Exception):
            continue
        expected = () if OPERATORS[name].shape is Shape.REDUCE else tuple(x.shape)
        if not isinstance(result, Tensor) or tuple(result.shape) != expected:
            wrong.append(f"{layout}: {getattr(result, 'shape', type(result))} instead of {expected}")
    assert not wrong


@checked("broadcast", sorted(_BINARY & set(SIMPLE)))
def test_two_operands_broadcast(name: str) -> None:
    first, second = _suitable(name, torch.ones(2, 1)), _suitable(name, torch.ones(3))
    result = outcome(name, (first, second))
    assert isinstance(result, Tensor)
    assert result.shape == (2, 3)


@checked("layout", [name for name in SIMPLE if OPERATORS[name].shape in (Shape.POINTWISE, Shape.LIKE)])
def test_strides_follow_the_operand_or_are_contiguous(name: str) -> None:
    wrong = []
    for layout, make in LAYOUTS.items():
        x = _suitable(name, make())
        result = outcome(name, arguments(name, x))
        if not isinstance(result, Tensor) or not x.numel():
            continue
        expected = x.stride() if OPERATORS[name].aliases else torch.bitwise_xor(x.bool(), x.bool()).stride()
        if name in table.CONTIGUOUS_RESULTS:
            expected = torch.empty(x.shape).stride()
        if result.stride() != expected:
            wrong.append(f"{layout}: {result.stride()} instead of {expected}")
    assert not wrong


@checked("aliases", OPERATORS)
def test_result_shares_memory_only_when_the_table_says_so(name: str) -> None:
    shared = set()
    in_evaluation = [(torch.ones(2, 3, 4), 0.5, False)] if "dropout" in name else []
    for call_arguments in (*_calls(name), *in_evaluation):
        result = outcome(name, call_arguments)
        shared |= {
            share_memory(made, given) for made in tensors_in(result) for given in tensors_in(list(call_arguments))
        }
    assert (True in shared) is OPERATORS[name].aliases


@checked("random", OPERATORS)
def test_draws_random_numbers_only_when_the_table_says_so(name: str) -> None:
    drawn = set()
    for call_arguments in _calls(name):
        before = torch.get_rng_state()
        outcome(name, call_arguments)
        drawn.add(not torch.equal(before, torch.get_rng_state()))
    assert (True in drawn) is OPERATORS[name].random


@checked("warns", OPERATORS)
def test_never_warns(name: str) -> None:
    for call_arguments in _calls(name):
        if Need.SEVERAL in OPERATORS[name].needs and call_arguments[0].numel() < 2:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                function(name)(*call_arguments)
            except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
                continue


@checked("one tensor", OPERATORS)
def test_gives_one_tensor(name: str) -> None:
    for call_arguments in _calls(name):
        result = outcome(name, call_arguments)
        assert isinstance(result, Tensor | Exception), type(result)


@checked("floating", [name for name in EXAMPLES if OPERATORS[name].dtype in (Dtype.CALL, Dtype.SAME, Dtype.PROMOTE)])
def test_floating_operand_gives_a_floating_result(name: str) -> None:
    call_arguments = EXAMPLES[name]()
    first = call_arguments[0]
    result = outcome(name, call_arguments)
    nothing_claimed = OPERATORS[name].shape is Shape.DATA or OPERATORS[name].random
    if nothing_claimed or not isinstance(first, Tensor) or not first.is_floating_point():
        return
    assert isinstance(result, Tensor)
    assert result.is_floating_point()


def test_functions_with_an_inplace_parameter_are_known() -> None:
    found = {name for name in OPERATORS if "inplace" in _parameters(getattr(F, name, None))}
    assert found <= table.MAY_WRITE_BY_POSITION


def test_functions_that_are_no_methods_are_known() -> None:
    assert {name for name in OPERATORS if not hasattr(torch.Tensor, name)} == table.FUNCTIONS_ONLY & set(OPERATORS)


@pytest.mark.parametrize("name", sorted(name for name in OPERATORS if OPERATORS[name].shape is Shape.REDUCE))
def test_reduction_of_one_dimension_gives_one_tensor_or_is_known_not_to(name: str) -> None:
    result = outcome(name, (floats(2, 3),), dim=0)
    assert isinstance(result, tuple) is (name in table.TUPLES_BY_DIMENSION)


@checked("gradient", OPERATORS)
def test_zero_gradient_stays_zero_as_far_as_the_table_says(name: str) -> None:
    operator = OPERATORS[name]
    level = operator.gradient
    if level is Gradient.SINGULAR:
        return  # The worst is claimed.
    values = ALL_VALUES if level is Gradient.SAFE else FINITE_VALUES
    wrong = []
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        for call_arguments in _differentiable(name, values, dtype):
            leaves = [part for part in tensors_in(list(call_arguments)) if part.requires_grad]
            result = outcome(name, call_arguments)
            if not isinstance(result, Tensor):
                continue
            if level is Gradient.STOPPED:
                wrong += [f"{dtype}: the result requires a gradient"] if result.requires_grad else []
            elif result.requires_grad and leaves:
                grads = torch.autograd.grad(result, leaves, torch.zeros_like(result), allow_unused=True)
                bad = [leaf.flatten()[:20] for leaf, g in zip(leaves, grads, strict=True) if g is not None and g.any()]
                wrong += [f"{dtype}: not zero at {bad}"] if bad else []
    assert not wrong


def _differentiable(name: str, values: list[float], dtype: torch.dtype) -> Iterator[tuple[Any, ...]]:
    if name in EXAMPLES:
        for value in (None, *values):
            yield tuple(_leaf(part, value, dtype) for part in EXAMPLES[name]())
        return
    x = torch.tensor(values, dtype=dtype, requires_grad=True)
    if OPERATORS[name].shape is Shape.REDUCE:
        for value in values:
            yield (torch.tensor([value, 1.0], dtype=dtype, requires_grad=True),)
            yield (torch.tensor([value, value], dtype=dtype, requires_grad=True),)
        return
    if name == "where":
        yield (torch.ones_like(x, dtype=torch.bool), x, x.detach().clone().requires_grad_())
        return
    if name not in _BINARY:
        yield (x, *arguments(name, x.detach())[1:])
        return
    for value in values:
        other = torch.full_like(x, value).detach().requires_grad_()
        yield (x, other)
        yield (other, x)


def _parameters(home: object) -> set[str]:
    try:
        return set(inspect.signature(home).parameters) if callable(home) else set()
    except (TypeError, ValueError):
        return set()


def _leaf(part: object, value: float | None, dtype: torch.dtype) -> object:
    if isinstance(part, list):
        return [_leaf(inner, value, dtype) for inner in part]
    if not isinstance(part, Tensor) or not part.is_floating_point():
        return part
    filled = part.to(dtype, copy=True)
    if value is not None and filled.numel():
        filled.view(-1)[0] = value
    return filled.requires_grad_()


def _suitable(name: str, x: Tensor) -> Tensor:
    """`x` in a dtype that the operation takes, with the same strides."""
    return x.bool() if Need.INTEGRAL in OPERATORS[name].needs else x


def _calls(name: str) -> Iterator[tuple[Any, ...]]:
    """Good calls of an operation, for tensors of several dtypes and layouts."""
    if name in EXAMPLES:
        yield EXAMPLES[name]()
        return
    for make in LAYOUTS.values():
        for dtype in DTYPES:
            yield arguments(name, make().to(dtype))


def test_factories_methods_and_modules_exist() -> None:
    for name in table.FACTORIES | table.LIKE_FACTORIES | table.RANDOM_FACTORIES:
        assert callable(getattr(torch, name))
    x = torch.ones(2, 2)
    for name in table.METADATA_METHODS | set(table.CASTS):
        assert callable(getattr(x, name))
    for name in (table.METADATA_ATTRIBUTES | table.VIEW_ATTRIBUTES) - {"names"}:  # PyTorch 2.13 has no `names`
        assert hasattr(x, name)
    for name in table.STATELESS_MODULES:
        assert issubclass(getattr(torch.nn, name), torch.nn.Module)
    for name, dtype in table.CASTS.items():
        assert getattr(x, name)().dtype is getattr(torch, dtype)


@pytest.mark.parametrize("name", sorted(table.LIKE_FACTORIES - {"full_like", "randint_like"}))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_like_factories_take_shape_dtype_and_strides(name: str, layout: str) -> None:
    x = LAYOUTS[layout]()
    state = torch.get_rng_state()
    made = getattr(torch, name)(x)
    assert (made.shape, made.dtype) == (x.shape, x.dtype)
    assert made.stride() == torch.neg(x).stride() or not x.numel()
    drawn = not torch.equal(state, torch.get_rng_state())
    assert drawn is (name in table.RANDOM_FACTORIES and x.numel() > 0)
