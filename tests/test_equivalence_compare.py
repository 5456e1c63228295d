"""Pairs of functions that differ in one thing only: the comparison names it, and nothing where they are the same."""

# ruff: noqa: ARG001, ARG005
from __future__ import annotations

import collections
import dataclasses
import logging
import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import pytest
import torch

from gbfix.equivalence.compare import compare, same_for_compiled
from gbfix.equivalence.describe import describe
from gbfix.equivalence.model import Difference, Event, Mode, Observation, Raised, Tolerance
from gbfix.equivalence.observation import observe_call

NAN, INF = float("nan"), float("inf")
log = logging.getLogger("tests.compare")
silent = logging.getLogger("tests.compare.silent")
silent.propagate = False


def numbers() -> tuple[Any, ...]:
    return (torch.arange(1.0, 7.0).reshape(2, 3),)


def wanting() -> tuple[Any, ...]:
    return (torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_(),)


def pair() -> tuple[Any, ...]:
    return torch.ones(3), torch.full((3,), 2.0)


def listed() -> tuple[Any, ...]:
    return torch.ones(3), [1, {"a": 2}]


def observe(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]], **options: Any) -> Observation:
    return observe_call(function, make(), {}, names=("x", "y"), **{"descriptors": False, **options})


def found(
    one: Callable[..., Any], other: Callable[..., Any], make: Callable[[], tuple[Any, ...]] = numbers, **options: Any
) -> list[tuple[str, str]]:
    differences = compare(observe(one, make, **options), observe(other, make, **options), Mode.EAGER)
    return [(difference.aspect, difference.where) for difference in differences]


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Output:
    value: Any
    name: str = "a"


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> Any:
        return self.value


class Halves(int):
    pass


def raises(error: BaseException, cause: BaseException | None = None) -> Callable[..., Any]:
    def function(x: torch.Tensor) -> torch.Tensor:
        if cause is not None:
            raise error from cause
        raise error

    return function


def says(*actions: Callable[[], Any]) -> Callable[..., Any]:
    def function(x: torch.Tensor) -> torch.Tensor:
        for action in actions:
            action()
        return x + 1

    return function


def logged_error(number: str = "a") -> None:
    try:
        int(number)
    except ValueError:
        log.exception("no")


def print_a() -> None:
    print("a")


def log_a() -> None:
    log.info("a")


def warn_a() -> None:
    warnings.warn("a", stacklevel=1)


def parameter_of_its_own(x: torch.Tensor) -> Any:
    return torch.nn.Parameter(x.detach().clone())


VALUES = [
    ("one element", lambda x: x * 2, lambda x: torch.where(x == 2, 5.0, x * 2), "value"),
    ("nan appears", lambda x: x * 2, lambda x: torch.where(x == 2, NAN, x * 2), "value"),
    ("nan at another place", lambda x: torch.where(x == 1, NAN, x), lambda x: torch.where(x == 2, NAN, x), "value"),
    ("the sign of zero", lambda x: x * 0.0, lambda x: x * -0.0, "value"),
    ("infinity", lambda x: x * INF, lambda x: x * -INF, "value"),
    ("one ulp", lambda x: x / 3, lambda x: x * (1 / 3), "value"),
    ("half", lambda x: x.half(), lambda x: x.half() + 0.001, "value"),
    ("bfloat16", lambda x: x.bfloat16(), lambda x: x.bfloat16() * 1.01, "value"),
    ("integer", lambda x: x.long(), lambda x: x.long() + 1, "value"),
    ("bool", lambda x: x > 2, lambda x: x >= 2, "value"),
    ("complex", lambda x: x * 1j, lambda x: x * -1j, "value"),
    ("complex, conjugated lazily", lambda x: (x * 1j).conj(), lambda x: x * 1j, "value"),
    ("float8", lambda x: x.to(torch.float8_e4m3fn), lambda x: (x + 1).to(torch.float8_e4m3fn), "value"),
    ("sparse", lambda x: x.to_sparse(), lambda x: (x * 2).to_sparse(), "value"),
    ("quantized", lambda x: quantized(x, 0.1), lambda x: quantized(x, 0.2), "value"),
    ("number", lambda x: 1.0, lambda x: 1.0000000000000002, "value"),
    ("the sign of a number", lambda x: 0.0, lambda x: -0.0, "value"),
    ("text", lambda x: "a", lambda x: "b", "value"),
    ("what a function holds on to", lambda x: holding(x), lambda x: holding(x + 1), "value"),
    ("the object of a method", lambda x: Slotted(x).get, lambda x: Slotted(x + 1).get, "value"),
    ("a tensor as a key", lambda x: {x + 1: 1}, lambda x: {x + 2: 1}, "value"),
    ("an object as a key", lambda x: {(Slotted(1),): 1}, lambda x: {(Slotted(2),): 1}, "value"),
    ("scales of channels", lambda x: quantized_rows(x, 0.1), lambda x: quantized_rows(x, 0.2), "value"),
    ("coalesced", lambda x: twice_stored(), lambda x: twice_stored().coalesce(), "value"),
    ("length of a queue", lambda x: collections.deque([1], 2), lambda x: collections.deque([1]), "type"),
    ("factory", lambda x: collections.defaultdict(list), lambda x: collections.defaultdict(set), "value"),
    ("inference tensor", lambda x: torch.inference_mode()(torch.neg)(x), lambda x: -x, "requires_grad"),
    ("a class as a key", lambda x: {int: 1}, lambda x: {float: 1}, "keys"),
    ("a dtype as a key", lambda x: {torch.int8: 1}, lambda x: {torch.int16: 1}, "keys"),
    ("array", lambda x: x.numpy(), lambda x: x.numpy() + 1, "value"),
    ("dtype", lambda x: x * 2, lambda x: (x * 2).double(), "dtype"),
    ("dtype of a number", lambda x: torch.tensor(1), lambda x: torch.tensor(1.0), "dtype"),
    ("broadcast", lambda x: x + torch.zeros(2, 1), lambda x: x + torch.zeros(2, 1, 3), "shape"),
    ("one-element dimension", lambda x: x.sum(), lambda x: x.sum().reshape(1), "shape"),
    ("empty", lambda x: x[:0], lambda x: x[:0, :1], "shape"),
    ("strides", lambda x: x.t() + 0, lambda x: (x.t() + 0).contiguous(), "strides"),
    ("layout", lambda x: x + 0, lambda x: x.to_sparse(), "strides"),
    ("device", lambda x: x + 0, lambda x: x.to("meta"), "device"),
    ("requires_grad", lambda x: x + 0, lambda x: (x + 0).requires_grad_(), "requires_grad"),
    ("number, not a tensor", lambda x: x.sum(), lambda x: x.sum().item(), "type"),
    ("parameter, not a tensor", parameter_of_its_own, lambda x: x.clone().requires_grad_(), "type"),
    ("bool, not an integer", lambda x: True, lambda x: 1, "type"),
    ("integer, not a float", lambda x: 1, lambda x: 1.0, "type"),
    ("a class of integers", lambda x: 1, lambda x: Halves(1), "type"),
    ("list, not a tuple", lambda x: (1, 2), lambda x: [1, 2], "type"),
    ("named tuple", lambda x: Pair(1, 2), lambda x: (1, 2), "type"),
    ("ordered dict", lambda x: {"a": 1}, lambda x: collections.OrderedDict(a=1), "type"),
    ("none", lambda x: None, lambda x: x + 1, "type"),
    ("generator, not a list", lambda x: (part for part in x), lambda x: list(x), "type"),
    ("order of keys", lambda x: {"a": 1, "b": 2}, lambda x: {"b": 2, "a": 1}, "keys"),
    ("another key", lambda x: {"a": 1}, lambda x: {"a": 1, "b": 2}, "keys"),
    ("the type of a key", lambda x: {1: 1}, lambda x: {1.0: 1}, "keys"),
    ("one item more", lambda x: [1], lambda x: [1, 2], "keys"),
    ("identity with an argument", lambda x: x, lambda x: x.clone(), "identity"),
    ("identity of a view", lambda x: x, lambda x: x.view(2, 3), "identity"),
    ("memory of an argument", lambda x: x[0], lambda x: x[0].clone(), "memory"),
]


def holding(x: torch.Tensor) -> Callable[[], torch.Tensor]:
    return lambda: x


def quantized_rows(x: torch.Tensor, scale: float) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_channel(x, torch.tensor([0.5, scale]), torch.zeros(2), 0, torch.qint8)


def twice_stored() -> torch.Tensor:
    return torch.sparse_coo_tensor(torch.zeros(1, 2), torch.ones(2), (2,), check_invariants=False)


def quantized(x: torch.Tensor, scale: float) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(x, scale, 0, torch.qint8)


@pytest.mark.parametrize(("one", "other", "aspect"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_a_result_that_differs_in_one_thing(one: Any, other: Any, aspect: str) -> None:
    assert {where for where, _ in found(one, other)} >= {aspect}
    assert ("exception", "call") not in found(one, other)
    assert found(one, one) == []
    assert found(other, other) == []


def nested(part: Callable[[torch.Tensor], Any]) -> list[tuple[str, Callable[..., Any]]]:
    return [
        ("result[1]", lambda x: (1, part(x))),
        ("result['a']", lambda x: {"a": part(x)}),
        ("result.second", lambda x: Pair(1, part(x))),
        ("result.value", lambda x: Output(part(x))),
        ("result.value", lambda x: Slotted(part(x))),
        ("result[0].value['b'][0]", lambda x: [Output({"b": (part(x),)})]),
    ]


def test_the_place_of_a_difference_is_named() -> None:
    for (where, one), (_, other) in zip(nested(lambda x: x * 2), nested(lambda x: x * 3), strict=True):
        assert found(one, other) == [("value", where)]


def test_what_an_iterator_of_python_would_give_is_compared() -> None:
    assert found(lambda x: map(torch.neg, [x]), lambda x: map(torch.abs, [x])) == [("value", "result[1][0]")]
    assert not found(lambda x: zip([x], [1], strict=True), lambda x: zip([x], [1], strict=True))


def test_the_same_tensor_twice_is_not_two_equal_ones() -> None:
    def twice(x: torch.Tensor) -> Any:
        y = x + 1
        return y, y

    assert found(twice, lambda x: (x + 1, x + 1)) == [("identity", "result[1]")]


def test_parts_of_a_result_that_share_memory() -> None:
    def view(x: torch.Tensor) -> Any:
        y = x + 1
        return y, y[0]

    assert found(view, lambda x: (x + 1, x[0] + 1)) == [("memory", "result[1]")]


def test_arguments_after_the_call() -> None:
    def write(x: torch.Tensor) -> Any:
        y = x
        y += 1
        return y * 1

    assert ("value", "argument x") in found(write, lambda x: x + 1)


def test_arguments_written_to_before_an_exception() -> None:
    def write_first(x: torch.Tensor) -> Any:
        x.add_(1)
        raise ValueError("bad")

    assert found(write_first, raises(ValueError("bad"))) == [("value", "argument x")]


def test_attributes_of_tensors() -> None:
    assert found(lambda x: setattr(x, "mark", 1), lambda x: None) == [("keys", "argument x")]
    assert found(lambda x: setattr(x, "mark", 1), lambda x: setattr(x, "mark", 2)) == [("value", "argument x.mark")]


def test_containers_among_the_arguments() -> None:
    assert found(lambda x, y: y.append(x), lambda x, y: None, listed) == [("keys", "argument y")]
    assert found(lambda x, y: y.append(x), lambda x, y: y.append(x.clone()), listed) == [("identity", "argument y[2]")]
    assert found(lambda x, y: y[1].update(a=3), lambda x, y: None, listed) == [("value", "argument y[1]['a']")]
    assert found(lambda x, y: y, lambda x, y: list(y), listed)[0] == ("identity", "result")


def test_the_gradient_that_an_argument_has_after_a_backward_pass_of_the_call() -> None:
    def train(x: torch.Tensor) -> None:
        (x * 2).sum().backward()

    assert found(train, lambda x: None, wanting) == [("keys", "argument x")]
    assert found(train, lambda x: (x * 3).sum().backward(), wanting) == [("value", "argument x.grad")]


def test_a_gradient_that_a_result_would_keep() -> None:
    def keeps(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y.retain_grad()
        return y

    assert found(keeps, lambda x: x * 2, wanting) == [("keys", "result")]


def test_a_function_may_hold_on_to_other_variables() -> None:
    def named(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__qualname__ = "scaled"
        return function

    def one(x: torch.Tensor) -> Any:
        y, factor = x + 1, 2
        return named(lambda: y * factor)

    def other(x: torch.Tensor) -> Any:
        y = x + 1
        return named(lambda: y * 2)

    assert found(one, other) == []


GRADIENTS = [
    ("detached", lambda x: x * 2, lambda x: x.detach() * 2, ["requires_grad", "gradient"]),
    ("one factor detached", lambda x: x * x, lambda x: x * x.detach(), ["gradient"]),
    ("two elements changed places", lambda x: x + 0, lambda x: x + x.flip(0) - x.flip(0).detach() - x + x.detach(), []),
    ("nan behind a where", lambda x: torch.where(x > 9, x, x * 1), lambda x: hidden_nan(x), ["gradient"]),
    (
        "zeros for none",
        lambda x: x.detach() * 2 + unused(x),
        lambda x: x.detach() * 2 + unused(x) + 0 * x,
        ["gradient"],
    ),
    ("the backward pass raises", lambda x: x * 2, lambda x: Failing.apply(x), ["backward"]),
]


def unused(x: torch.Tensor) -> torch.Tensor:
    """Something that requires gradients without `x`."""
    return torch.ones(x.shape).requires_grad_()


def hidden_nan(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 9, torch.sqrt(x - x), x * 1)


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(_context: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(_context: Any, _gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        raise RuntimeError("no backward pass")


@pytest.mark.parametrize(("one", "other", "aspects"), [row[1:] for row in GRADIENTS], ids=[row[0] for row in GRADIENTS])
def test_gradients(one: Any, other: Any, aspects: list[str]) -> None:
    named = [aspect for aspect, _ in found(one, other, wanting)]
    assert named == aspects or (not aspects and "gradient" in named)
    assert found(one, one, wanting) == found(other, other, wanting) == []


def test_a_result_whose_elements_changed_places_has_another_gradient_even_when_its_values_are_the_same() -> None:
    def equal() -> tuple[Any, ...]:
        return (torch.ones(4).requires_grad_(),)

    assert found(lambda x: x * 1, lambda x: x.flip(0) * 1, equal) == [("gradient", "gradient of x")]


def test_the_sign_of_a_zero_gradient_is_not_compared() -> None:
    def zeros() -> tuple[Any, ...]:
        return (torch.zeros(3).requires_grad_(),)

    assert found(lambda x: x * 0.0, lambda x: torch.where(x > 1, x * -0.0, x * 0.0), zeros) == []


def test_the_strides_of_a_gradient_are_not_compared_but_its_layout_is() -> None:
    def laid(gradient: torch.Tensor) -> Observation:
        return Observation(gradients={"x": describe(gradient, "gradient of x")})

    plain = torch.arange(6.0).reshape(2, 3)
    assert compare(laid(plain), laid(plain.t().contiguous().t()), Mode.EAGER) == ()
    (difference,) = compare(laid(plain), laid(plain.to_sparse()), Mode.EAGER)
    assert (difference.aspect, difference.where) == ("strides", "gradient of x")


def test_gradients_are_not_asked_for_without_grad_mode() -> None:
    assert found(lambda x: x * x, lambda x: x * x.detach(), wanting, grad_enabled=False) == []
    assert found(lambda x: x * x, lambda x: x * x.detach(), wanting, gradients=False) == []


EXCEPTIONS = [
    ("raises or returns", raises(ValueError("bad")), lambda x: x),
    ("type", raises(ValueError("bad")), raises(RuntimeError("bad"))),
    ("text", raises(ValueError("bad 1")), raises(ValueError("bad 2"))),
    ("the end of a long text", raises(ValueError("bad\n" * 90 + "1")), raises(ValueError("bad\n" * 90 + "2"))),
    ("cause", raises(ValueError("bad"), KeyError("a")), raises(ValueError("bad"))),
    ("type of the cause", raises(ValueError("bad"), KeyError("a")), raises(ValueError("bad"), IndexError("a"))),
    ("exit", raises(SystemExit(1)), raises(SystemExit(2))),
]


@pytest.mark.parametrize(("one", "other"), [row[1:] for row in EXCEPTIONS], ids=[row[0] for row in EXCEPTIONS])
def test_exceptions(one: Any, other: Any) -> None:
    difference = compare(observe(one, numbers), observe(other, numbers), Mode.EAGER)
    assert [each.aspect for each in difference] == ["exception"]
    assert difference[0].original != difference[0].rewritten
    assert found(one, one) == []


def test_an_exception_reads_as_people_write_it() -> None:
    (difference,) = compare(observe(raises(ValueError("bad x")), numbers), observe(lambda x: x, numbers), Mode.EAGER)
    assert (difference.original, difference.rewritten[:20]) == ("ValueError: bad x", "returns float32[2, 3")


MESSAGES = [
    ("print", says(print_a), says()),
    ("text", says(print_a), says(lambda: print("b"))),
    ("end", says(print_a), says(lambda: print("a", end=""))),
    ("stream", says(print_a), says(lambda: print("a", file=sys.stderr))),
    ("bytes", says(print_a), says(lambda: sys.stdout.buffer.write(b"b\n"))),
    ("order of print and log", says(print_a, log_a), says(log_a, print_a)),
    ("order of print and warning", says(print_a, warn_a), says(warn_a, print_a)),
    ("order of log and warning", says(log_a, warn_a), says(warn_a, log_a)),
    ("twice", says(warn_a), says(warn_a, warn_a)),
    ("level", says(log_a), says(lambda: log.warning("a"))),
    ("debug", says(lambda: log.debug("a")), says()),
    ("logger", says(log_a), says(lambda: logging.getLogger("tests.other").info("a"))),
    ("logger that does not propagate", says(lambda: silent.error("a")), says(lambda: silent.error("b"))),
    ("text of the exception of a record", says(logged_error), says(lambda: logged_error("b"))),
    ("exception of a record", says(logged_error), says(lambda: log.error("no"))),
    ("category", says(warn_a), says(lambda: warnings.warn("a", DeprecationWarning, stacklevel=1))),
    ("warning", says(warn_a), says(lambda: warnings.warn("b", stacklevel=1))),
]


@pytest.mark.parametrize(("one", "other"), [row[1:] for row in MESSAGES], ids=[row[0] for row in MESSAGES])
def test_messages(one: Any, other: Any) -> None:
    assert [aspect for aspect, _ in found(one, other)] == ["messages"]
    assert found(one, one) == found(other, other) == []


def test_messages_before_an_exception() -> None:
    def quiet(x: torch.Tensor) -> None:
        raise ValueError("bad")

    def loud(x: torch.Tensor) -> None:
        print("a")
        raise ValueError("bad")

    assert found(quiet, loud) == [("messages", "messages [0]")]


RANDOM = [
    ("torch", lambda x: torch.rand(1) * 0, lambda x: torch.zeros(1), "random torch"),
    ("python", lambda x: random.random() * 0, lambda x: 0.0, "random python"),
    ("numpy", lambda x: float(numpy.random.rand()) * 0, lambda x: 0.0, "random numpy"),
]


@pytest.mark.parametrize(("one", "other", "where"), [row[1:] for row in RANDOM], ids=[row[0] for row in RANDOM])
def test_random_generators(one: Any, other: Any, where: str) -> None:
    assert found(one, other) == [("random", where)]
    assert found(one, one) == []


def test_a_generator_that_is_an_argument() -> None:
    def make() -> tuple[Any, ...]:
        return torch.ones(2), torch.Generator().manual_seed(3)

    def draw(x: torch.Tensor, y: torch.Generator) -> torch.Tensor:
        return x + torch.rand(2, generator=y) * 0

    assert found(draw, lambda x, y: x + 0, make) == [("random", "argument y")]


MODES = [
    ("grad", lambda x: torch.set_grad_enabled(False) and None, "mode grad_enabled"),
    ("dtype", lambda x: torch.set_default_dtype(torch.float64), "mode default_dtype"),
    ("printing", lambda x: torch.set_printoptions(precision=2), "mode print_options"),
    ("autocast cache", lambda x: torch.set_autocast_cache_enabled(False), "mode autocast_cache"),
    ("deterministic", lambda x: torch.use_deterministic_algorithms(True), "mode deterministic"),
    ("precision", lambda x: torch.set_float32_matmul_precision("high"), "mode float32_matmul_precision"),
    ("autocast", lambda x: torch.set_autocast_enabled("cpu", True), "mode autocast cpu"),
]


@pytest.mark.parametrize(("one", "where"), [row[1:] for row in MODES], ids=[row[0] for row in MODES])
def test_modes(one: Any, where: str) -> None:
    one_and_none = found(lambda x: (one(x), None)[1], lambda x: None)
    assert one_and_none == [("modes", where)]


class Counting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.BatchNorm1d(3)
        self.settings = {"scale": 1.0, "history": []}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


STATE = [
    ("parameter", lambda m: m.inner.weight.data.add_(1), "value", "state self.inner.weight"),
    ("buffer", lambda m: m.inner.running_mean.add_(1), "value", "state self.inner.running_mean"),
    ("training", lambda m: m.inner.eval(), "value", "state self.inner.training"),
    ("attribute", lambda m: setattr(m, "count", 1), "keys", "state self"),
    ("attribute within", lambda m: m.settings.update(scale=2.0), "value", "state self.settings['scale']"),
    ("list", lambda m: m.settings["history"].append(1), "keys", "state self.settings['history']"),
    ("hook", lambda m: m.inner.register_forward_hook(lambda *_: None), "value", "state self.inner.number_of_hooks"),
    ("frozen", lambda m: m.inner.weight.requires_grad_(False), "requires_grad", "state self.inner.weight"),
    ("gradient", lambda m: m.inner.weight.sum().backward(), "keys", "state self.inner.weight"),
    ("replaced", lambda m: setattr(m.inner, "weight", m.inner.bias), "identity", "state self.inner.bias"),
]


@pytest.mark.parametrize(("act", "aspect", "where"), [row[1:] for row in STATE], ids=[row[0] for row in STATE])
def test_state_of_a_module(act: Any, aspect: str, where: str) -> None:
    def observation(action: Callable[..., Any]) -> Observation:
        module = Counting()
        return observe_call(lambda x: (action(module), None)[1], numbers(), {}, names=("x",), owner=module)

    differences = compare(observation(lambda m: None), observation(act), Mode.EAGER)
    assert (aspect, where) in [
        (each.aspect, each.where.replace("[number of hooks]", ".number of hooks")) for each in differences
    ]
    assert compare(observation(act), observation(act), Mode.EAGER) == ()


def test_the_gradient_of_a_parameter_that_one_side_does_not_use() -> None:
    class Two(torch.nn.Module):
        def __init__(self, both: bool) -> None:
            super().__init__()
            self.first, self.second, self.both = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1), both

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            used = self.first(x)
            return torch.where(x.sum() > 0, used, self.second(x)) if self.both else used

    def observation(both: bool) -> Observation:
        torch.manual_seed(0)
        module = Two(both)
        module.both = both
        return observe_call(module, numbers(), {}, names=("x",), owner=module)

    named = [
        (each.aspect, each.where, each.original) for each in compare(observation(False), observation(True), Mode.EAGER)
    ]
    assert ("gradient", "gradient of self.second.weight", "None") in named
    assert not any("first" in where for _, where, _ in named)


def test_globals_that_a_call_changes() -> None:
    def observation(count: int) -> Observation:
        program: dict[str, Any] = {"__name__": "program", "COUNT": 0, "SEEN": [], "kept": torch.zeros(2), "own": count}

        def function(x: torch.Tensor) -> None:
            program["COUNT"] += count
            program["SEEN"].append(count)

        return observe_call(function, numbers(), {}, names=("x",), module_globals=program)

    differences = compare(observation(1), observation(2), Mode.EAGER)
    assert [(each.aspect, each.where) for each in differences] == [
        ("value", "state global COUNT"),
        ("value", "state global SEEN[0]"),
    ]
    unchanged = {each.where: each.original for each in compare(observation(0), observation(2), Mode.EAGER)}
    assert unchanged["state global COUNT"] == "unchanged"


def test_the_difference_says_which_elements_and_how_far_apart() -> None:
    def far(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 4, NAN, x / 2)

    (difference,) = compare(observe(lambda x: x / 2, numbers), observe(far, numbers), Mode.EAGER)
    assert f"{difference.original} -> {difference.rewritten}" == "2 of 6 elements: [1, 1] 2.5 -> nan"
    assert difference.ulp is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_units_in_the_last_place(dtype: torch.dtype) -> None:
    one = torch.tensor(1.0, dtype=dtype)
    next_one = torch.nextafter(one, torch.tensor(2.0, dtype=dtype))
    (difference,) = compare(observe(lambda x: one + 0, numbers), observe(lambda x: next_one + 0, numbers), Mode.EAGER)
    assert difference.ulp == 1
    (difference,) = compare(observe(lambda x: one + 0, numbers), observe(lambda x: -one, numbers), Mode.EAGER)
    bits = {torch.float16: 10, torch.bfloat16: 7, torch.float32: 23, torch.float64: 52}[dtype]
    bias = {torch.float16: 15, torch.bfloat16: 127, torch.float32: 127, torch.float64: 1023}[dtype]
    assert difference.ulp == 2 * (bias << bits)


def test_a_tolerance_allows_small_differences_of_values_only() -> None:
    def compared(one: Any, other: Any, make: Any = numbers) -> list[tuple[str, bool]]:
        tolerance = Tolerance(1e-5, 0.0)
        differences = compare(observe(one, make), observe(other, make), Mode.EAGER, tolerance)
        return [(each.aspect, each.within) for each in differences]

    assert compared(lambda x: x / 3, lambda x: x * (1 / 3)) == [("value", True)]
    assert compared(lambda x: x / 3, lambda x: x * 0.34) == [("value", False)]
    assert compared(lambda x: x / 3, lambda x: (x / 3).double()) == [("dtype", False)]
    assert compared(lambda x: x.long(), lambda x: x.long() + 1) == [("value", False)]
    assert compared(lambda x: x * 1, lambda x: x / 0) == [("value", False)]
    assert compared(lambda x: 1.0, lambda x: 1.0 + 1e-7) == [("value", True)]
    assert compared(lambda x: x / 3, lambda x: x * (1 / 3), wanting) == [("value", True), ("gradient", True)]


def test_nan_is_the_same_whatever_its_payload() -> None:
    quiet = torch.tensor([0x7FC00000], dtype=torch.int32).view(torch.float32)
    other = torch.tensor([-0x3FFFFF], dtype=torch.int32).view(torch.float32)
    assert bool(other.isnan())
    assert found(lambda x: quiet.clone(), lambda x: other.clone()) == []
    many = quiet.repeat(1 << 18)
    assert found(lambda x: (many * 1,), lambda x: (other.repeat(1 << 18),)) == []


def test_what_does_not_matter() -> None:
    assert (
        found(
            lambda x: x[:1].clone(),
            lambda x: torch.as_strided(x, (1, 3), (7, 1)).clone(memory_format=torch.preserve_format),
        )
        == []
    )
    assert found(lambda x: {3, 1, 2}, lambda x: {2, 3, 1}) == []
    assert found(lambda x: {"a", "b", "c"}, lambda x: {"c", "a", "b"}) == []
    assert found(lambda x: object(), lambda x: object()) == []
    assert found(lambda x: f"{object()!r}", lambda x: f"{object()!r}") == []
    assert found(says(lambda: print(object())), says(lambda: print(object()))) == []


def everything(x: torch.Tensor, y: list[Any]) -> Any:
    print("x", x.shape, object())
    log.info("sum %s", x.sum())
    warnings.warn(f"of {random.random()}", stacklevel=1)
    print("error", file=sys.stderr)
    y.append({"a", "b", str(torch.rand(1))})
    kept = {"a": x, "view": x[0], "set": {1, "a", None, 2.5}, "object": Output(x * 2), "draw": torch.randn(2, 2)}
    return kept, Pair(x.mean(), numpy.random.rand(2)), (part for part in y), object(), lambda: 1


def test_the_same_function_twice_never_differs() -> None:
    for seed in range(50):

        def make(seed: int = seed) -> tuple[Any, ...]:
            generator = torch.Generator().manual_seed(seed)
            return torch.randn(2, 3, generator=generator).requires_grad_(bool(seed % 2)), [seed]

        assert found(everything, everything, make) == []


def test_what_is_written_below_python() -> None:
    one = observe(lambda x: os.write(1, b"a\n") and None, numbers, descriptors=True)
    other = observe(lambda x: None, numbers, descriptors=True)
    assert one.events == (Event("stdout", "a\n", "fd"),)
    assert [each.aspect for each in compare(one, other, Mode.EAGER)] == ["messages"]


def test_the_most_important_difference_comes_first() -> None:
    def other(x: torch.Tensor) -> Any:
        torch.rand(1)
        print("a")
        x.add_(1)
        return x * 2

    assert [aspect for aspect, _ in found(lambda x: x + 0, other)] == ["value", "value", "messages", "random"]


def test_an_unknown_generator_on_one_side_says_nothing() -> None:
    one, other = Observation(random={"torch": "a"}), Observation(random={"torch": "a", "numpy": "b"})
    assert compare(one, other, Mode.EAGER) == compare(other, one, Mode.EAGER) == ()


# -- compiled ------------------------------------------------------------------------------------


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(function, backend="eager")


def in_both_modes(
    one: Callable[..., Any], other: Callable[..., Any], make: Callable[[], tuple[Any, ...]] = numbers
) -> tuple[tuple[Difference, ...], str]:
    return same_for_compiled(
        observe(one, make), observe(compiled(one), make), observe(other, make), observe(compiled(other), make)
    )


def test_what_dynamo_does_itself_is_not_the_rewrites_fault() -> None:
    root = numpy.sqrt(2.0)

    def promotes(x: torch.Tensor) -> torch.Tensor:
        return x.long() * root

    def promotes_as_eager(x: torch.Tensor) -> torch.Tensor:
        return x.long() * 2.0**0.5

    differences, baseline = in_both_modes(promotes, promotes)
    assert differences == ()
    assert baseline == "result: dtype, eager float32, compiled float64"
    assert in_both_modes(promotes, promotes_as_eager) == ((), baseline)
    assert in_both_modes(promotes, lambda x: x.long() * 1.5)[0] != ()


def test_a_compiled_rewrite_that_differs_from_both_is_reported() -> None:
    differences, baseline = in_both_modes(lambda x: x * 2, lambda x: x * 3)
    assert [(each.aspect, each.where, each.mode) for each in differences] == [("value", "result", Mode.COMPILED)]
    assert baseline == ""


def test_a_failing_operation_fails_for_the_same_reason_compiled() -> None:
    def product(x: torch.Tensor) -> torch.Tensor:
        return x @ x

    def broken_first(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return torch.ops.aten.mm(x, x)

    assert in_both_modes(product, product) == ((), "")
    assert in_both_modes(broken_first, product)[0] == ()


def test_an_exception_of_the_program_is_not_one_of_the_compiler() -> None:
    eager = Observation(raised=Raised("RuntimeError", "bad x"))
    of_compiler = Observation(raised=Raised("torch._dynamo.exc.TorchRuntimeError", "got RuntimeError('no')", (), True))
    differences, _ = same_for_compiled(eager, eager, eager, of_compiler)
    assert [each.aspect for each in differences] == ["exception"]
    of_torch = Observation(raised=Raised("RuntimeError", "shapes", from_torch=True))
    assert same_for_compiled(of_torch, of_torch, of_torch, of_compiler) == ((), "")
    wrong = Observation(raised=Raised("IndexError", "out of range", from_torch=True))
    assert same_for_compiled(wrong, wrong, wrong, of_compiler)[0] != ()


def test_a_failing_operation_in_the_backward_pass() -> None:
    of_torch = Raised("RuntimeError", "shapes", from_torch=True)
    of_compiler = Raised("torch._dynamo.exc.BackendCompilerFailed", "got RuntimeError('shapes')", (), True)
    eager, failing = Observation(backward_raised=of_torch), Observation(backward_raised=of_compiler)
    assert same_for_compiled(eager, eager, eager, failing) == ((), "")
    returns = Observation()
    assert [each.aspect for each in same_for_compiled(returns, returns, returns, failing)[0]] == ["backward"]


def test_a_graph_that_fails_leaves_its_modes() -> None:
    @torch.no_grad()
    def fails(x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.cholesky(-x[:, :2])

    @torch.no_grad()
    def broken_first(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return torch.linalg.cholesky(-x[:, :2])

    assert observe(compiled(fails), numbers).modes["grad_enabled"] == "False"
    assert in_both_modes(broken_first, fails)[0] == ()
    leaking, failed = {"grad_enabled": "False"}, Raised("ValueError", "of the program")
    one, other = (Observation(raised=failed, modes=modes) for modes in ({"grad_enabled": "True"}, leaking))
    assert [each.aspect for each in same_for_compiled(one, one, one, other)[0]] == ["modes"]


def observation_of(value: Any, **fields: Any) -> Observation:
    return dataclasses.replace(observe(lambda x: value, numbers), **fields)


def test_each_place_may_follow_another_reference_but_no_place_both_halves() -> None:
    one, two, three = torch.ones(2), torch.ones(2, dtype=torch.float64), torch.full((2,), 3.0)
    printed = (Event("stdout", "a"),)
    eager, compiled_one = observation_of(one), observation_of(two, events=printed)
    assert same_for_compiled(eager, compiled_one, eager, observation_of(one, events=printed))[0] == ()
    assert same_for_compiled(eager, compiled_one, eager, observation_of(two))[0] == ()
    # The dtype of the one reference with the values of neither.
    (difference, *_), _ = same_for_compiled(eager, compiled_one, eager, observation_of(three))
    assert (difference.aspect, difference.where) == ("value", "result")
    failed = Observation(raised=Raised("ValueError", "bad"))
    (difference, *_), _ = same_for_compiled(eager, failed, eager, observation_of(three))
    assert difference.where in ("call", "result")


def test_a_backend_with_code_of_its_own_may_round_and_lay_out_differently() -> None:
    base = torch.arange(1.0, 7.0).reshape(2, 3) / 3
    close, far = torch.nextafter(base, torch.tensor(9.0)), base + 0.01
    eager = observation_of(base)
    other_strides = observation_of(base.t().contiguous().t())
    for backend, ends in (("eager", [True, True, True]), ("inductor", [False, False, True])):
        rewritten = [observation_of(close), other_strides, observation_of(far)]
        seen = [bool(same_for_compiled(eager, eager, eager, one, backend=backend)[0]) for one in rewritten]
        assert seen == ends
