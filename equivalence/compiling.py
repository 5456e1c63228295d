"""torch.compile, as a version of the program sees it: the identity, or a compiler that counts what it is given.

Runs in the process of a version, before the program is loaded.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MethodType
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.exc import InvalidBackend

from gbfix.equivalence.model import CheckError

_DROPPED = ("backend", "mode", "options")
"""What the backend of the check stands for."""


class CountingBackend:
    """A backend of torch.compile that counts the graphs it is given and hands them to another, named backend.

    That is looked up late: the program may be what registers it.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.graphs = 0

    def __call__(self, graph: torch.fx.GraphModule, inputs: Any, **options: Any) -> Any:  # noqa: ANN401
        """Compile one graph."""
        self.graphs += 1
        return self.look_up()(graph, inputs, **options)

    def look_up(self) -> Callable[..., Any]:
        """The backend that compiles. Raises CheckError when there is none of that name."""
        try:
            found: Callable[..., Any] = torch._dynamo.lookup_backend(self.__name__)
        except InvalidBackend as error:
            hint = "see torch._dynamo.list_backends()"
            raise CheckError(f"backend {self.__name__}: PyTorch knows none of that name; {hint}") from error
        return found


@dataclass(frozen=True)
class Compiled:
    """Something that the program gave to torch.compile, what it got, and how it was asked for."""

    given: Any
    result: Any
    options: Mapping[str, Any]


class Compiler:
    """What stands in for torch.compile. backend: None makes it the identity.

    fullgraph: every compile call of the program is made with fullgraph=True.
    """

    def __init__(self, backend: CountingBackend | None) -> None:
        self.backend = backend
        self.fullgraph = False
        self.compiled: list[Compiled] = []
        self._real: Callable[..., Any] = torch.compile

    def install(self) -> None:
        """Put it in the place of torch.compile, torch.compiler.compile, Module.compile and torch._dynamo.optimize.

        PyTorch's own calls of these stay what they are. That the environment switches compilation off does not count.
        """
        torch._dynamo.config.disable = False
        real_module, real_optimize = torch.nn.Module.compile, torch._dynamo.optimize

        @functools.wraps(torch.compile)
        def compile_function(model: Any = None, **options: Any) -> Any:  # noqa: ANN401
            if _called_by_torch():
                return self._real(model, **options)
            if model is None:
                return lambda function: self.compile(function, options)
            return self.compile(model, options)

        @functools.wraps(real_module)
        def compile_module(module: torch.nn.Module, *positional: Any, **options: Any) -> None:  # noqa: ANN401
            if _called_by_torch():
                real_module(module, *positional, **options)
            elif self.backend is not None:
                module._compiled_call_impl = self.compile(module._call_impl, options)

        @functools.wraps(real_optimize)
        def optimize(*positional: Any, **options: Any) -> Any:  # noqa: ANN401
            if _called_by_torch():
                return real_optimize(*positional, **options)
            kept = {name: value for name, value in options.items() if name in ("dynamic", "disable")}
            return lambda function: self.compile(function, {**kept, "fullgraph": options.get("nopython", False)})

        for place, name, replacement in (
            (torch, "compile", compile_function),
            (torch.compiler, "compile", compile_function),
            (torch.nn.Module, "compile", compile_module),
            (torch._dynamo, "optimize", optimize),
        ):
            setattr(place, name, replacement)

    def compile(self, model: Any, options: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Compile as the program asks to, with the backend of the check. Remembers what was compiled."""
        if self.backend is None:
            return model
        kept = {name: value for name, value in options.items() if name not in _DROPPED}
        if self.fullgraph:
            kept["fullgraph"] = True
        result = self._real(model, backend=self.backend, **kept)
        self.compiled.append(Compiled(model, result, options))
        return result

    def compile_target(self, target: Callable[..., Any]) -> Callable[..., Any]:
        """Compile what the program does not compile itself."""
        assert self.backend is not None
        compiled: Callable[..., Any] = self._real(target, backend=self.backend, fullgraph=self.fullgraph)
        return compiled

    def result_for(self, target: Any) -> Any:  # noqa: ANN401
        """What the program made of exactly this function or module with torch.compile, or the target if it is such.

        None when the program compiled it nowhere.
        """
        for each in reversed(self.compiled):
            if _is_same(each.result, target) or _is_same(each.given, target):
                return each.result
        return None

    def in_one_graph(self, result: Any) -> Callable[..., Any] | None:  # noqa: ANN401
        """What a result of the program's torch.compile is with fullgraph=True; None when it is no such result."""
        for each in reversed(self.compiled):
            if _is_same(each.result, result):
                kept = {name: value for name, value in each.options.items() if name not in _DROPPED}
                whole: Callable[..., Any] = self._real(each.given, backend=self.backend, **{**kept, "fullgraph": True})
                return whole
        return None

    def options_for(self, result: Any) -> Mapping[str, Any] | None:  # noqa: ANN401
        """How the program asked for a result of torch.compile; None when it is none."""
        return next((each.options for each in reversed(self.compiled) if each.result is result), None)

    def forget(self) -> None:
        """The program is about to be loaded anew."""
        self.compiled.clear()


def _is_same(one: Any, other: Any) -> bool:  # noqa: ANN401
    """The same object, or the same method of the same object: a bound method is a new object at every access."""
    if one is other:
        return True
    is_method = isinstance(one, MethodType) and isinstance(other, MethodType)
    return is_method and one.__self__ is other.__self__ and one.__func__ is other.__func__


def _called_by_torch() -> bool:
    name = sys._getframe(2).f_globals.get("__name__", "")
    return isinstance(name, str) and name.partition(".")[0] == "torch"
