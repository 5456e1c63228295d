import functools
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gbfix.evidence.compiled import compile_call, describe_arguments, function_of, module_of, settings_of


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.norm = torch.nn.BatchNorm1d(2).to(torch.float64).requires_grad_(False)
        self.again = self.linear

    @torch.no_grad()
    def forward(self, x: torch.Tensor, flag: bool = True) -> torch.Tensor:
        return self.linear(x) if flag else x

    def parameters(self, recurse: bool = True) -> Any:
        raise AssertionError(f"called by gbfix ({recurse=})")


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(context: int, *values: Any) -> Any:
        return function(context, *values)

    return call


@doubled
def decorated(x: int, y: int, z: int) -> int:
    return x + y + z


def line_of(function: Callable[..., Any]) -> int:
    return function.__code__.co_firstlineno


def test_a_function() -> None:
    def local(x: int, *rest: int, key: int = 0) -> int:
        return x + sum(rest) + key

    found = function_of(local)
    assert (found.name, found.file, found.line) == ("test_a_function.<locals>.local", __file__, line_of(local))
    assert (found.names, found.rest) == (("x",), "rest")


def test_decorators_of_pytorch_keep_the_arguments_and_others_may_not() -> None:
    forward = function_of(Net())
    assert (forward.name, forward.names) == ("Net.forward", ("x", "flag"))
    assert forward.line == line_of(Net.__dict__["forward"].__wrapped__)
    found = function_of(decorated)
    assert found.line == line_of(decorated.__wrapped__)  # type: ignore[attr-defined]
    assert (found.names, found.rest) == (("context",), "values")


@pytest.mark.parametrize("given", ["module", "call", "_call_impl", "compiled", "compiled twice"])
def test_a_module_in_all_its_forms(given: str) -> None:
    net = Net()
    forms: dict[str, Any] = {
        "module": net,
        "call": net.__call__,
        "_call_impl": net._call_impl,
        "compiled": torch.compile(net, backend="eager"),
        "compiled twice": torch.compile(torch.compile(net, backend="eager"), backend="eager"),
    }
    assert module_of(forms[given]) is net
    assert function_of(forms[given]).name == "Net.forward"


def test_a_module_whose_forward_was_replaced() -> None:
    net = Net()
    net.forward = lambda z: z  # type: ignore[assignment, method-assign]
    assert function_of(net).names == ("z",)
    net.forward = Net().forward  # type: ignore[method-assign]
    assert function_of(net).names == ("x", "flag")


def test_classes_methods_and_callable_objects() -> None:
    class Plain:
        def __call__(self, x: int) -> int:
            return x

        def method(self, x: int) -> int:
            return x

    assert function_of(Net).names == ("self", "x", "flag")
    assert function_of(Plain).name.endswith("Plain.__call__")
    assert (module_of(Plain().method), function_of(Plain().method).names) == (None, ("x",))
    assert function_of(functools.partial(max, 1)).name == "partial"
    assert function_of(torch.sin).file is None


def test_the_compile_call_is_the_innermost_line_outside_pytorch_and_the_standard_library() -> None:
    line = sys._getframe().f_lineno + 1
    assert functools.reduce(lambda _, __: compile_call(), [0, 0]) == (__file__, line)


def test_settings() -> None:
    def mine(graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., Any]:
        return graph.forward

    optimize = torch._dynamo.optimize
    assert settings_of(optimize("eager")) == {"backend": "eager", "fullgraph": False, "dynamic": "None"}
    found = settings_of(optimize(mine, nopython=True, dynamic=False))
    assert found == {"backend": "test_settings.<locals>.mine", "fullgraph": True, "dynamic": "False"}
    context = optimize("eager", nopython=True)
    del context.fullgraph  # as before torch 2.9
    assert settings_of(context)["fullgraph"] is True
    net: Any = torch.compile(Net(), backend="eager", options={"x": 1})
    assert settings_of(net.dynamo_ctx)["backend"] == "eager"


def test_arguments_of_a_module() -> None:
    net = Net()
    found = describe_arguments(function_of(net), net.__call__, (1, True, "more"), {"key": None})
    assert list(found) == ["self", "x", "flag", "args[0]", "key"]
    items: Any = found["self"]["items"]
    kinds = [kind["value"] for _, kind in dict(items)["parameters"]["items"]]
    assert kinds == ["'float32 cpu requires_grad'", "'float64 cpu'"]


def test_self_of_a_plain_function_is_told_as_well() -> None:
    function = function_of(Net.forward)
    found = describe_arguments(function, Net.forward, (Net(), torch.ones(2)), {})
    assert [name for name, _ in found["self"]["items"]] == ["training", "parameters"]  # type: ignore[attr-defined]
    assert found["x"]["kind"] == "tensor"
