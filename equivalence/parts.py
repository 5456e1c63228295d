"""What a container, an object or a module consists of, by name."""

from __future__ import annotations

import contextlib
import enum
import functools
import io
import logging
import os
import threading
import types
import weakref
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import torch

_LOOKED_INTO_NEVER = (
    logging.Logger,
    logging.Handler,
    io.IOBase,
    threading.Thread,
    weakref.ref,
    types.FrameType,
    types.CodeType,
    types.TracebackType,
    Iterator,
)
WIDTH = 20_000
"""Of a longer container this many items are looked into, and their number is kept."""
_SEQUENCES: tuple[Any, ...] = (tuple, list, deque, set, frozenset)
_WITH_CACHES = ("pathlib.PosixPath", "pathlib.WindowsPath", "pathlib.PurePosixPath", "pathlib._local.PosixPath")
"""Classes whose `repr` says all, and whose attributes come and go."""
_NAMED_KEYS = (
    str,
    int,
    float,
    complex,
    bytes,
    bool,
    type(None),
    torch.dtype,
    torch.device,
    torch.Size,
    torch.layout,
    torch.memory_format,
)
_TORCH = str(Path(torch.__file__).parent) + os.sep
_SET_BY_COMPILE = {"_compiled_call_impl", "_is_torch_compile"}
"""Attributes that compiling a module leaves on it (torch._dynamo.eval_frame, nn.Module.compile)."""
_OF_EVERY_MODULE = frozenset(vars(torch.nn.Module())) - {"training"}
_COMPILED_MODULE = "torch._dynamo.eval_frame.OptimizedModule"


def dotted(kind: type) -> str:
    """The name of a class with that of its module, without "builtins"."""
    module = getattr(kind, "__module__", "")
    return kind.__qualname__ if module in ("builtins", "") else f"{module}.{kind.__qualname__}"


def path(name: str, key: str) -> str:
    """The name of a part: "x[0]", "x['key']", "x.attribute"."""
    return f"{name}.{key}" if key.isidentifier() and key not in ("None", "True", "False") else f"{name}[{key}]"


def unwrapped(value: object) -> object:
    """The module in what torch.compile made of it; anything else as it is."""
    return value.__dict__["_modules"]["_orig_mod"] if dotted(type(value)) == _COMPILED_MODULE else value


def parts(value: object) -> tuple[str, list[tuple[str, Any]]]:
    """The kind ("container", "object", "module", "function", "opaque") of a value and what it holds, in order.

    Names are indices, the `repr` of keys, and attributes. Runs no code of the value's class but that of containers.
    """
    if isinstance(value, torch.nn.Module):
        return "module", _module(value)
    if isinstance(value, dict):
        held: list[tuple[str, Any]] = [(_key(key), item) for key, item in islice(dict.items(value), WIDTH)]
        # What a key consists of is seen where its name does not say it.
        held += [(f"key {at}", key) for at, key in enumerate(islice(dict.keys(value), WIDTH)) if not _is_named(key)]
        if isinstance(value, defaultdict):
            held.append(("default_factory", value.default_factory))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        held = list(zip(value._fields, tuple.__iter__(value), strict=False))
    elif isinstance(value, _SEQUENCES):
        base = next(kind for kind in _SEQUENCES if isinstance(value, kind))
        held = [(str(index), item) for index, item in enumerate(islice(base.__iter__(value), WIDTH))]
        if isinstance(value, deque):
            held.append(("maxlen", value.maxlen))
    elif isinstance(value, BaseException):
        return "object", [("args", value.args), *(_attributes(value) or [])]
    elif isinstance(value, types.FunctionType | types.MethodType):
        return "function", _function(value)
    elif isinstance(value, functools.partial):
        return "object", [("func", value.func), ("args", value.args), ("keywords", value.keywords)]
    elif isinstance(value, types.MappingProxyType):
        held = [(_key(key), item) for key, item in value.items()]
    elif isinstance(value, _LOOKED_INTO_NEVER) or dotted(type(value)) in _WITH_CACHES:
        return "opaque", []
    else:
        attributes = _attributes(value)
        return ("object", attributes) if attributes is not None else ("opaque", [])
    if len(held) == WIDTH:
        held.append(("number_of_items", dict.__len__(value) if isinstance(value, dict) else len(value)))
    known = {id(item) for _, item in held}
    return "container", held + [(key, item) for key, item in _attributes(value) or [] if id(item) not in known]


def _key(key: object) -> str:
    if isinstance(key, _NAMED_KEYS):
        return repr(key)
    if isinstance(key, tuple):
        return f"({', '.join(map(_key, key))})"
    if isinstance(key, type | enum.Enum):
        return dotted(key) if isinstance(key, type) else str(key)
    return f"a {type(key).__name__}"


def _is_named(key: object) -> bool:
    return all(map(_is_named, key)) if isinstance(key, tuple) else not _key(key).startswith("a ")


def _attributes(value: object) -> list[tuple[str, Any]] | None:
    """The attributes of an object itself, None when it has no room for any."""
    found: list[tuple[str, Any]] = []
    room = False
    own = getattr(value, "__dict__", None)
    if isinstance(own, Mapping):
        room = True
        found += [(str(key), item) for key, item in list(own.items())]
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            member = kind.__dict__.get(slot)
            if isinstance(member, types.MemberDescriptorType):
                room = True
                try:
                    found.append((slot, member.__get__(value, kind)))
                except AttributeError:  # Not assigned.
                    continue
    return found if room else None


def _function(function: types.FunctionType | types.MethodType) -> list[tuple[str, Any]]:
    """What it holds on to. Of what torch wraps around functions, such as torch.compile, nothing."""
    if isinstance(function, types.MethodType):
        return [("__self__", function.__self__)]
    code = function.__code__
    if code.co_filename.startswith(_TORCH):
        return []
    found = []
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):  # Not assigned yet.
            found.append((name, cell.cell_contents))
    return found


def _numbers(module: torch.nn.Module) -> dict[str, tuple[str, int]]:
    """The integers that a module counts in buffers which are not saved, by the names of these: with their own names.

    Only a module's own code can tell such a one from an attribute, or nobody, where a property of the name without the
    underscore gives the number.
    """
    found = {}
    for key in vars(module).get("_non_persistent_buffers_set", ()):
        buffer = module._buffers.get(key)
        if not key.startswith("_") or buffer is None or type(buffer) not in (torch.Tensor, torch.nn.Buffer):
            continue
        if buffer.dim() == 0 and buffer.dtype == torch.int64 and buffer.device.type != "meta":
            public = isinstance(getattr(type(module), key[1:], None), property)
            found[key] = (key[1:] if public else key, int(buffer))
    return found


def _module(module: torch.nn.Module) -> list[tuple[str, Any]]:
    own = vars(module)
    found: list[tuple[str, Any]] = []
    numbers = _numbers(module)
    for place in ("_parameters", "_buffers", "_modules"):
        found += [(key, item) for key, item in own.get(place, {}).items() if key not in numbers]
    found += [(key, item) for key, item in own.items() if key not in _OF_EVERY_MODULE | _SET_BY_COMPILE]
    found += numbers.values()
    if unsaved := own.get("_non_persistent_buffers_set", set()) - numbers.keys():
        found.append(("buffers_not_saved", sorted(unsaved)))
    hooks = sum(len(item) for key, item in own.items() if key.endswith("_hooks") and isinstance(item, dict))
    return [*found, ("number_of_hooks", hooks)]
