"""Helpers for tests that people write: is a function still the same, and into how many graphs is it compiled."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis.strategies import SearchStrategy

from gbfix.equivalence.calls import Call, call_of, call_text, calls_of, copied, positional_names
from gbfix.equivalence.compare import compare, same_for_compiled
from gbfix.equivalence.graph_counts import assert_graphs
from gbfix.equivalence.in_process import compiled as compiled_function
from gbfix.equivalence.in_process import compiling, eagerly, plain
from gbfix.equivalence.model import Described, Difference, Mode, Observation, Raised, Tolerance
from gbfix.equivalence.observation import observe_call
from gbfix.equivalence.tensor_strategy import tensors

__all__ = ["assert_equivalent", "assert_graphs", "tensors"]

_LOCAL = "<locals>."
_SET_BY_TORCH = ("_is_torch_compile",)
"""Attributes that torch.compile leaves on a module."""
_ULP_THAT_TELL = 2**20


def assert_equivalent(
    old: Callable[..., Any],
    new: Callable[..., Any],
    inputs: object,
    *,
    examples: int = 100,
    backend: str | Callable[..., Any] = "eager",
    compiled: bool = True,
    tolerance: tuple[float, float] | None = None,
    gradients: bool = True,
    seed: int = 0,
) -> None:
    """Fail unless two functions do the same in everything that can be observed, eagerly and compiled.

    Both are called on copies of the same arguments, old eager is compared with new eager and old compiled with new
    compiled: results bit for bit (NaN and -0.0 by position) with dtype, shape, strides, device, requires_grad and
    types; which results are arguments or share memory with them; arguments, modules and random generators after the
    call; gradients, where None is not zero; printed text, log records and warnings in their order; exceptions.

    old, new: functions, bound methods or nn.Modules, decorated by torch.compile or not. Modules must hold equal
    parameters (`new.load_state_dict(old.state_dict())`); each call works on copies of them, so that both stay as they
    are. inputs: the arguments of one call (in a test with Hypothesis' `@given`), a list of such, a strategy of such,
    or a function that returns one of these. The arguments of a call are a tuple of positional arguments, a dict of
    arguments by name, or the only argument. examples: how many calls a strategy is asked for.
    backend: for everything that is compiled. compiled: False to compare eagerly only.
    tolerance: relative and absolute, such as (1e-5, 1e-8), for values and gradients of floating dtypes: allowed is
    |old - new| <= absolute + relative * |old|. Bit for bit when None.
    gradients: run a backward pass where a result requires gradients and grad mode is on.
    seed: of the random generators before each call, and of the examples.

    Raises AssertionError that names every difference, the arguments and the mode; of a strategy it shows the simplest
    arguments that Hypothesis finds. Raises ValueError for an empty list.
    """
    allowed = None if tolerance is None else Tolerance(*tolerance)
    _require_equal_parameters(old, new)
    pair = _Pair(old, new, backend, compiled, allowed, gradients, seed)
    if isinstance(inputs, types.FunctionType):
        inputs = inputs()
    if not isinstance(inputs, SearchStrategy):
        calls = calls_of(inputs)
        if not calls:
            raise ValueError("assert_equivalent needs at least one call: inputs is empty")
        for call in calls:
            pair.check(call)
        return

    @hypothesis_seed(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def check_each(arguments: object) -> None:
        pair.check(call_of(arguments))

    check_each()


class _Pair:
    """Two functions and how to compare them."""

    def __init__(
        self,
        old: Callable[..., Any],
        new: Callable[..., Any],
        backend: str | Callable[..., Any],
        compiled: bool,
        tolerance: Tolerance | None,
        gradients: bool,
        seed: int,
    ) -> None:
        self._old = old
        self._new = new
        self._backend = backend
        self._compiled = compiled
        self._tolerance = tolerance
        self._gradients = gradients
        self._seed = seed
        self._modules = frozenset(module for each in (old, new) if (module := _module_of(each)))

    def check(self, call: Call) -> None:
        """Compare one call in every mode."""
        names = positional_names(plain(self._old), len(call.args))
        old, new = (self._observe(each, call, names, Mode.EAGER) for each in (self._old, self._new))
        self._demand_none(compare(old, new, Mode.EAGER, self._tolerance), call, names)
        if self._compiled:
            both = (self._observe(each, call, names, Mode.COMPILED) for each in (self._old, self._new))
            old_compiled, new_compiled = both
            backend = self._backend if isinstance(self._backend, str) else ""
            found, _ = same_for_compiled(old, old_compiled, new, new_compiled, self._tolerance, backend=backend)
            self._demand_none(found, call, names)

    def _observe(self, function: Callable[..., Any], call: Call, names: Sequence[str], mode: Mode) -> Observation:
        own, subject = copied(call), _own(function)
        if mode is Mode.COMPILED:
            subject = compiled_function(subject)
        with eagerly() if mode is Mode.EAGER else compiling(self._backend):
            seen = observe_call(
                subject,
                own.args,
                own.kwargs,
                names=names,
                owner=_owner(subject),
                seed=self._seed,
                gradients=self._gradients,
                grad_enabled=torch.is_grad_enabled(),
                descriptors=False,
            )
        return _with_short_types(seen, self._modules)

    def _demand_none(self, found: Sequence[Difference], call: Call, names: Sequence[str]) -> None:
        differences = [each for each in found if not each.within]
        if differences:
            old, new, mode = _name(self._old), _name(self._new), differences[0].mode.value
            first = f"{old} (old) and {new} (new) differ, {mode}, for {call_text(call, names)}"
            raise AssertionError("\n".join([first, *(f"  {_text(each)}" for each in differences)]))


def _text(difference: Difference) -> str:
    distance = f" ({difference.ulp} ULP)" if difference.ulp and difference.ulp < _ULP_THAT_TELL else ""
    return f"{difference.subject}: {difference.original} (old), {difference.rewritten} (new){distance}"


def _own(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, on a copy of the module or object that it belongs to."""
    inner = plain(function) if isinstance(function, torch.nn.Module) else function
    if isinstance(inner, torch.nn.Module | types.MethodType):
        return copy.deepcopy(inner)
    return function


def _owner(function: Callable[..., Any]) -> object | None:
    inner = plain(function)
    return inner if isinstance(inner, torch.nn.Module) else getattr(inner, "__self__", None)


def _module_of(function: Callable[..., Any]) -> str | None:
    inner = plain(function)
    inner = getattr(inner, "__func__", inner)
    return getattr(type(inner) if isinstance(inner, torch.nn.Module) else inner, "__module__", None)


def _name(function: Callable[..., Any]) -> str:
    inner = plain(function)
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return str(name).rpartition(_LOCAL)[2]


def _require_equal_parameters(old: Callable[..., Any], new: Callable[..., Any]) -> None:
    first, second = _owner(old), _owner(new)
    if not (isinstance(first, torch.nn.Module) and isinstance(second, torch.nn.Module)):
        return
    theirs = second.state_dict()
    for name, tensor in first.state_dict().items():
        other = theirs.get(name)
        if isinstance(tensor, torch.Tensor) and isinstance(other, torch.Tensor) and not _same_elements(tensor, other):
            raise AssertionError(
                f"{_name(old)} (old) and {_name(new)} (new) hold different parameters or buffers, the first is {name}: "
                "call new.load_state_dict(old.state_dict()) before"
            )


def _same_elements(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.device != other.device:
        return one.shape == other.shape
    both_nan = (one != one) & (other != other)
    return bool(((one == other) | both_nan).all())


def _without_module_types(state: Described | None) -> Described | None:
    """The classes of old and new are different ones; what they hold and do is compared."""
    if state is None:
        return None
    held = (each for each in state.items if state.kind != "module" or each[0] not in _SET_BY_TORCH)
    items = tuple((key, inner) for key, item in held if (inner := _without_module_types(item)) is not None)
    return replace(state, items=items, type="" if state.kind == "module" else state.type)


def _with_short_types(seen: Observation, modules: Collection[str]) -> Observation:
    """Classes of the functions' own modules by their plain names: an old version lives elsewhere than the new one."""

    def short(name: str) -> str:
        if _LOCAL in name:
            return name.rpartition(_LOCAL)[2]
        return next((name.removeprefix(f"{each}.") for each in modules if name.startswith(f"{each}.")), name)

    def described(value: Described | None) -> Described | None:
        if value is None:
            return None
        items = tuple((key, item) for key, inner in value.items if (item := described(inner)) is not None)
        return replace(value, type=short(value.type), items=items)

    def exception(value: Raised | None) -> Raised | None:
        causes = () if value is None else tuple(short(each) for each in value.causes)
        return None if value is None else replace(value, type=short(value.type), causes=causes)

    return replace(
        seen,
        result=described(seen.result),
        arguments=described(seen.arguments),
        state=_without_module_types(described(seen.state)),
        gradients={name: described(each) for name, each in seen.gradients.items()},
        raised=exception(seen.raised),
        backward_raised=exception(seen.backward_raised),
    )
