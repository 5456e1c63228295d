"""Attributes as Python finds them, without running code of the program."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from gbfix.evidence.lookup import MISSING, attribute, is_recorded_global, path_value


class Slots:
    __slots__ = ("empty", "limit")

    def __init__(self) -> None:
        self.limit = 3


class Plain:
    default = 7

    def __init__(self) -> None:
        self.limit = 3
        self.cfg = SimpleNamespace(deep=SimpleNamespace(limit=4))
        vars(self)["shown"] = 1

    @property
    def shown(self) -> int:
        raise AssertionError("a property was run")

    def method(self) -> None: ...


class Intercepts(Plain):
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("the program's code was run")


class Falls:
    def __getattr__(self, name: str) -> Any:
        raise AssertionError("the program's code was run")


class Lazy(torch.nn.Linear):
    def __getattr__(self, name: str) -> Any:
        raise AssertionError("the program's code was run")


class HidesWeight(torch.nn.Linear):
    weight = None


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)
        self.register_buffer("offset", torch.ones(2))
        self.register_parameter("nothing", None)


@pytest.mark.parametrize("name", ["limit", "default", "cfg"])
def test_what_is_stored_is_found(name: str) -> None:
    plain = Plain()
    assert attribute(plain, name) is getattr(plain, name)


@pytest.mark.parametrize("name", ["shown", "method", "absent", "__class__"])
def test_what_is_computed_is_not(name: str) -> None:
    assert attribute(Plain(), name) is MISSING


@pytest.mark.parametrize("make", [Intercepts.__new__, Falls])
def test_classes_that_intercept_are_left_alone(make: Callable[..., Any]) -> None:
    value = make(Intercepts) if make is not Falls else make()
    assert attribute(value, "limit") is MISSING


def test_slots() -> None:
    assert attribute(Slots(), "limit") == 3
    assert attribute(Slots(), "empty") is MISSING


def test_a_module_holds_parameters_buffers_and_modules() -> None:
    net = Net()
    assert attribute(net, "inner") is net.inner
    assert attribute(net, "offset") is net.offset
    assert attribute(net, "nothing") is None
    assert attribute(net, "absent") is MISSING
    assert path_value({"self": net}, "self.inner.weight") is net.inner.weight


def test_a_module_that_answers_for_itself_is_left_alone() -> None:
    module = Lazy.__new__(Lazy)
    torch.nn.Module.__init__(module)
    module._parameters["weight"] = torch.nn.Parameter(torch.ones(1))
    assert attribute(module, "weight") is MISSING
    hides = HidesWeight.__new__(HidesWeight)
    torch.nn.Module.__init__(hides)
    hides._parameters["weight"] = torch.nn.Parameter(torch.ones(1))
    assert attribute(hides, "weight") is None is hides.weight


def test_paths() -> None:
    names = {"x": Plain()}
    assert path_value(names, "x.cfg.deep.limit") == 4
    assert path_value(names, "x.cfg.absent.limit") is MISSING
    assert path_value(names, "y.cfg") is MISSING


@pytest.mark.parametrize("value", [1, 2.0, True, "text", torch.ones(1), Net()])
def test_globals_worth_recording(value: object) -> None:
    assert is_recorded_global(value)


@pytest.mark.parametrize("value", [torch, Net, print, [1], MISSING])
def test_globals_that_are_not(value: object) -> None:
    assert not is_recorded_global(value)
