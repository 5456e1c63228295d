"""What was given to torch.compile, as facts: the function, where it is defined, where and how it was compiled."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import Any

from gbfix.evidence.describe import class_attribute, describe, instance_dict, is_subclass
from gbfix.evidence.stack import Origin, origin

_COMPILE_FUNCTIONS = (
    "/evidence/entries.py",
    "/torch/_dynamo/eval_frame.py",
    "/torch/__init__.py",
    "/torch/compiler/__init__.py",
    "/torch/nn/modules/module.py",
)
"""Where torch.compile, torch.compiler.compile, Module.compile and what they call are defined."""

_MODULE_CALLS = {"__call__", "_call_impl", "_wrapped_call_impl", "forward"}


@dataclass(frozen=True)
class Function:
    """A compiled function. file, line: where it is written, also when decorators wrap it.

    names: of the positional parameters, without the self of a bound method; those of the outermost decorator's wrapper,
    since its arguments need not be those of the function in it. rest: what takes further positional arguments.
    """

    name: str
    file: str | None = None
    line: int | None = None
    names: tuple[str, ...] = ()
    rest: str = "args"


def function_of(subject: object) -> Function:
    """The function behind what torch.compile was given: a function, a bound method, a module or a class."""
    module = module_of(subject)
    if module is not None:
        return _of_forward(type(module), instance_dict(module).get("forward"), bound=True)
    if isinstance(subject, types.MethodType):
        return _of_function(subject.__func__, _name(subject.__func__), bound=True)
    if isinstance(subject, type):
        if is_subclass(subject, _module_class()):
            return _of_forward(subject, None, bound=False)
        return _of_function(class_attribute(subject, "__call__")[1], f"{subject.__qualname__}.__call__", bound=False)
    return _of_function(subject, _name(subject), bound=False)


def module_of(subject: object) -> object | None:
    """The module that a call of `subject` runs: itself, unwrapped, or the owner of a bound method such as __call__."""
    if isinstance(subject, types.MethodType):
        if subject.__func__.__name__ not in _MODULE_CALLS:
            return None
        return module_of(subject.__self__)
    if isinstance(subject, types.FunctionType):
        wrapped = vars(subject).get("__wrapped__")
        # Dynamo wraps a module of PyTorch itself in a function of its own (external_utils.wrap_inline).
        return module_of(wrapped) if wrapped is not None and _in_torch(subject.__code__) else None
    if not is_subclass(type(subject), _module_class()):
        return None
    if type(subject).__name__ == "OptimizedModule" and _in_torch_module(type(subject)):
        return module_of(instance_dict(subject).get("_modules", {}).get("_orig_mod"))
    return subject


def compile_call() -> tuple[str | None, int | None] | None:
    """File and line of the call of torch.compile; both None when the whole stack is machinery.

    None when PyTorch compiles a function on its own account, as torch.cond does when it is called outside a graph, and
    compiled autograd.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.replace("\\", "/").endswith(_COMPILE_FUNCTIONS):
        frame = frame.f_back
    if frame is not None and _in_torch(frame.f_code):
        return None
    while frame is not None:
        if origin(frame.f_code.co_filename, "") not in (Origin.TORCH, Origin.STANDARD_LIBRARY):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None, None


def settings_of(context: Any) -> dict[str, object]:  # noqa: ANN401
    """backend, fullgraph and dynamic of an OptimizeContext.

    Up to torch 2.8 only the class of the frame converter tells fullgraph. The chain to the backend goes through
    `_torchdynamo_orig_backend`, called `_torchdynamo_orig_callable` up to 2.8.
    """
    link, classes = context.callback, set()
    for _ in range(20):
        classes.add(type(link).__name__)
        held = vars(link) if hasattr(link, "__dict__") else {}
        following = held.get("_torchdynamo_orig_backend", held.get("_torchdynamo_orig_callable"))
        if following is None:
            break
        link = following
    fullgraph = getattr(context, "fullgraph", None)
    return {
        "backend": str(getattr(link, "compiler_name", None) or _name(link)),
        "fullgraph": "ConvertFrameAssert" in classes if fullgraph is None else bool(fullgraph),
        "dynamic": str(getattr(context, "_dynamic", None)),
    }


def describe_arguments(
    function: Function, fn: object, positional: tuple[object, ...], keywords: dict[str, object]
) -> dict[str, dict[str, object]]:
    """The arguments of a call by name; with "self" for a module, which also tells about its parameters."""
    described = {}
    module = module_of(fn)
    if module is not None:
        described["self"] = _describe_module(module)
    for index, (name, value) in enumerate(named_arguments(function, positional, keywords).items()):
        is_first = index == 0 and bool(positional)
        is_module = is_first and name == "self" and is_subclass(type(value), _module_class())
        described[name] = _describe_module(value) if is_module else describe(value)
    return described


def named_arguments(
    function: Function, positional: tuple[object, ...], keywords: dict[str, object]
) -> dict[str, object]:
    """The arguments of a call by name, those in *args as "args[0]"."""
    named: dict[str, object] = {}
    for index, value in enumerate(positional):
        beyond = index - len(function.names)
        named[f"{function.rest}[{beyond}]" if beyond >= 0 else function.names[index]] = value
    return {**named, **keywords}


def _of_forward(cls: type, own: object, *, bound: bool) -> Function:
    """The forward of a module's class, or the one that was set on the instance and is called without self."""
    name = f"{cls.__qualname__}.forward"
    if isinstance(own, types.MethodType):
        return _of_function(own.__func__, name, bound=True)
    if own is not None:
        return _of_function(own, name, bound=False)
    return _of_function(class_attribute(cls, "forward")[1], name, bound=bound)


def _of_function(function: object, name: str, *, bound: bool) -> Function:
    if not isinstance(function, types.FunctionType):
        return Function(name)
    signature = _unwrapped(function, only_torch=True).__code__
    names = signature.co_varnames[: signature.co_argcount]
    has_rest = bool(signature.co_flags & 0x04)  # inspect.CO_VARARGS
    after_names = signature.co_argcount + signature.co_kwonlyargcount
    code = _unwrapped(function, only_torch=False).__code__
    return Function(
        name,
        code.co_filename,
        code.co_firstlineno,
        tuple(names[1:] if bound else names),
        signature.co_varnames[after_names] if has_rest else "args",
    )


def _unwrapped(function: types.FunctionType, *, only_torch: bool) -> types.FunctionType:
    """Without the wrappers of decorators; those of PyTorch, such as torch.no_grad, are known to keep the arguments."""
    for _ in range(20):
        wrapped = vars(function).get("__wrapped__")
        if isinstance(wrapped, types.MethodType):
            wrapped = wrapped.__func__
        if not isinstance(wrapped, types.FunctionType) or (only_torch and not _in_torch(function.__code__)):
            break
        function = wrapped
    return function


def _describe_module(module: object) -> dict[str, object]:
    facts = describe(module)
    kinds = [describe(kind) for kind in sorted(_parameter_kinds(module))]
    parameters = {"kind": "tuple", "type": "tuple", "length": len(kinds)}
    parameters["items"] = [[str(index), kind] for index, kind in enumerate(kinds)]
    items = facts.get("items")
    facts["items"] = [*(items if isinstance(items, list) else []), ["parameters", parameters]]
    return facts


def _parameter_kinds(module: object) -> set[str]:
    """The distinct dtype, device and requires_grad of all parameters, without calling methods of the user's classes."""
    torch: Any = sys.modules["torch"]
    base = torch._C.TensorBase
    found, seen, waiting = set(), set(), [module]
    with torch._C.DisableTorchFunction():
        while waiting:
            attributes = instance_dict(waiting.pop())
            if id(attributes) in seen:
                continue
            seen.add(id(attributes))
            waiting += [child for child in dict(attributes.get("_modules") or {}).values() if child is not None]
            for parameter in dict(attributes.get("_parameters") or {}).values():
                if type(parameter) is torch.nn.Parameter:
                    grad = base.requires_grad.__get__(parameter)
                    found.add((base.dtype.__get__(parameter), str(base.device.__get__(parameter)), grad))
    return {
        f"{str(dtype).removeprefix('torch.')} {device}" + (" requires_grad" if grad else "")
        for dtype, device, grad in found
    }


def _name(value: object) -> str:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return name if isinstance(name, str) else type(value).__qualname__


def _module_class() -> object:
    return getattr(sys.modules.get("torch.nn"), "Module", None)


def _in_torch(code: types.CodeType) -> bool:
    return origin(code.co_filename, "") is Origin.TORCH


def _in_torch_module(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "torch"
