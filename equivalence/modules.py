"""What a target stands for, ready to be called: a function, an nn.Module that is built for each example, a method.

Runs in the process of a version.
"""

from __future__ import annotations

import copy
import inspect
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from gbfix.equivalence.compiling import Compiler
from gbfix.equivalence.example import Example
from gbfix.equivalence.loading import attribute_of, load_object
from gbfix.equivalence.model import CheckError, Parameter, Settings, Target
from gbfix.equivalence.saved_modules import load_module

_PLAIN = (bool, int, float, complex, str, type(None))
_CALLS_THE_MODULE = ("", "forward", "__call__")
_TEMPLATES = 8


@dataclass(frozen=True)
class Callee:
    """What to call for one example. owner: the object whose state belongs to the call, None for a function."""

    function: Callable[..., Any]
    owner: object | None = None


class Callees:
    """Makes a callee for each example.

    A module is built by the target's factory, or by its class without arguments, with the generators seeded by the
    example; one that is in a global variable is copied. Raises CheckError when it cannot be.
    """

    def __init__(self, module: ModuleType, target: Target, settings: Settings, compiler: Compiler) -> None:
        self._target = target
        self._settings = settings
        self._compiler = compiler
        self._root, self._rest = _root_and_rest(module, target)
        if target.saved:
            self._rest = ""
        elif target.factory:
            named = target.factory if ":" in target.factory else f"{target.module}:{target.factory}"
            is_method = inspect.isclass(self._root)
            self._rest = self._rest if is_method else ""
            self._root = (
                load_object(named, target.search)
                if ":" in target.factory and target.factory.partition(":")[0] != target.module
                else attribute_of(module, target.factory.rpartition(":")[2], target.name)
            )
        self._templates: dict[int, Any] = {}
        self._compiled_at_load = len(compiler.compiled)

    def make(self, example: Example) -> Callee:
        """A callee that no earlier call has touched, as far as it is an object of its own."""
        if not self._builds and not isinstance(self._root, torch.nn.Module):
            return Callee(self._checked(self._root))
        del self._compiler.compiled[self._compiled_at_load :]
        built = self._instance(example)
        owner = _inner(built)
        if isinstance(owner, torch.nn.Module):
            for each in (built, owner):
                each.train(each.training if example.training is None else example.training)
            called = self._rest in _CALLS_THE_MODULE
            return Callee(built if called else attribute_of(owner, self._rest, self._target.name), owner)  # type: ignore[arg-type]
        if inspect.isfunction(built):
            return Callee(built)
        function = attribute_of(built, self._rest, self._target.name) if self._rest else built
        return Callee(self._checked(function), owner)

    @property
    def _builds(self) -> bool:
        return bool(self._target.factory or self._target.saved) or inspect.isclass(self._root)

    def _instance(self, example: Example) -> Any:  # noqa: ANN401
        seed = example.module_seed
        template = self._templates.pop(seed, None)
        if template is None:
            template = self._build(seed) if self._builds else self._root
            if not isinstance(template, torch.nn.Module):
                return template
            template = self._moved(template)
        self._templates[seed] = template
        if len(self._templates) > _TEMPLATES:
            del self._templates[next(iter(self._templates))]
        if self._builds and _holds_compiled(template):
            del self._templates[seed]  # a copy would lose what is compiled, or run it on the original
            return template
        return template if _holds_on_to_itself(template) else self._copied(template, seed)

    def _copied(self, template: Any, seed: int) -> Any:  # noqa: ANN401
        options = self._compiler.options_for(template)
        if options is not None:
            return self._compiler.compile(copy.deepcopy(_inner(template)), options)
        try:
            return copy.deepcopy(template)
        except Exception:
            if not self._builds:
                return template
            return self._moved(self._build(seed))

    def _build(self, seed: int) -> Any:  # noqa: ANN401
        seed_generators(seed)
        if self._target.saved:
            return load_module(self._target.saved, self._target.script)
        try:
            return self._root()
        except Exception as error:
            kind, text = type(error).__name__, " ".join(str(error).split())
            name = getattr(self._root, "__qualname__", self._target.name)
            required = _required(self._root)
            if required and inspect.isclass(self._root):
                hint = f"{name} takes arguments ({', '.join(required)}); name a factory that builds it"
                raise CheckError(f"{self._target.file}: {hint}") from error
            raise CheckError(f"{self._target.file}: {name}() failed with {kind}: {text}") from error

    def _moved(self, built: torch.nn.Module) -> torch.nn.Module:
        built = built.to(self._settings.device)
        return built.to(getattr(torch, self._settings.dtype)) if self._settings.dtype else built

    def _checked(self, value: Any) -> Callable[..., Any]:  # noqa: ANN401
        if not callable(value):
            kind = type(value).__name__
            raise CheckError(f"{self._target.file}: {self._target.name} is of type {kind}, which cannot be called")
        return value  # type: ignore[no-any-return]


def parameters_of(callee: Callee) -> tuple[Parameter, ...]:
    """The parameters of a call, without `self`. Raises CheckError for a function that Python cannot look into."""
    owner = callee.owner
    is_module = isinstance(owner, torch.nn.Module) and isinstance(callee.function, torch.nn.Module)
    function = owner.forward if is_module else callee.function  # type: ignore[attr-defined]
    try:
        signature = _signature(function)
    except (TypeError, ValueError) as error:
        raise CheckError(f"the parameters of {function!r} are not known to Python; check a caller of it") from error
    return tuple(_parameter(each) for each in signature.parameters.values())


def _root_and_rest(module: ModuleType, target: Target) -> tuple[Any, str]:
    """The class, module instance or function that an attribute leads to first, and what follows it."""
    value: Any = module
    parts = target.attribute.split(".")
    for position, part in enumerate(parts):
        if isinstance(value, torch.nn.Module) or (inspect.isclass(value) and _is_method(value, part)):
            return value, ".".join(parts[position:])
        value = attribute_of(value, part, target.name)
    return value, ""


def _is_method(owner: type, name: str) -> bool:
    """It is called on an instance."""
    found = inspect.getattr_static(owner, name, None)
    return found is not None and not inspect.isclass(found) and not isinstance(found, (staticmethod, classmethod))


def _inner(built: Any) -> Any:  # noqa: ANN401
    """The module that torch.compile wrapped, or the object itself."""
    is_wrapped = isinstance(built, torch._dynamo.eval_frame.OptimizedModule)
    return built._orig_mod if is_wrapped else built


def _holds_compiled(module: torch.nn.Module) -> bool:
    wrapped = torch._dynamo.eval_frame.OptimizedModule
    return _holds_on_to_itself(module) or any(
        isinstance(each, wrapped) or each._compiled_call_impl is not None for each in module.modules()
    )


def _holds_on_to_itself(module: torch.nn.Module) -> bool:
    """Such as by self.forward = torch.compile(self.forward): a function that a copy would have, too."""
    wrapped = torch._dynamo.eval_frame.OptimizedModule  # makes its function anew when it is copied
    return any(
        inspect.isfunction(value) and value.__closure__
        for each in module.modules()
        if not isinstance(each, wrapped)
        for value in vars(each).values()
    )


def seed_generators(seed: int) -> None:
    """Seed the global generators of torch, Python and, where it is loaded, numpy."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)


def _required(function: Any) -> list[str]:  # noqa: ANN401
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each.name for each in parameters if each.default is each.empty and each.kind not in variadic]


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except (TypeError, ValueError):
        raise
    except Exception:  # an annotation that is text and cannot be evaluated, such as a name imported for checking only
        return inspect.signature(function)


def _parameter(each: inspect.Parameter) -> Parameter:
    has_default = each.default is not each.empty
    is_required = not has_default and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    return Parameter(
        each.name,
        each.kind.name,
        _annotation(each.annotation),
        is_required,
        _default(each.default) if has_default else None,
    )


def _annotation(annotation: object) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _default(value: object) -> str | None:
    if type(value) in (list, tuple):
        return repr(value) if all(_default(each) is not None for each in value) else None  # type: ignore[attr-defined]
    is_finite = not isinstance(value, float) or abs(value) < float("inf")
    return repr(value) if type(value) in _PLAIN and is_finite else None
