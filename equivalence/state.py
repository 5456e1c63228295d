"""The plain values in the globals of the target's module, and which of them a call changed."""

from __future__ import annotations

import random
import types
from typing import Any

import torch

from gbfix.equivalence.describe import STATE_BYTES, describe
from gbfix.equivalence.identity import Names
from gbfix.equivalence.model import Described
from gbfix.equivalence.parts import dotted, parts

_PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, bytearray)
_PARTS = 2000
"""Of each global: they are described twice for each call."""
_GENERATORS = (torch.Generator, random.Random)


def plain_globals(module_globals: dict[str, Any] | None) -> list[tuple[str, Any]]:
    """The globals worth watching as ("global NAME", value).

    Plain values, containers, tensors, modules of torch.nn, generators, and objects of the program's own classes; and
    of the program's functions and classes the attributes, default values and variables around them that are such. Not
    what is Python's own.
    """
    if module_globals is None:
        return []
    program = str(module_globals.get("__name__", ""))
    found: list[tuple[str, Any]] = []
    for name, value in list(module_globals.items()):
        if _is_private(name) or _is_constant_of_compiler(name, module_globals):
            continue
        if _is_plain(value, program.split(".")[0]):
            found.append((f"global {name}", value))
        elif isinstance(value, type | types.FunctionType) and value.__module__ == program:
            found += [(f"global {name}.{key}", item) for key, item in _held(value, program.split(".")[0])]
    return found


def _held(value: type | types.FunctionType, program: str) -> list[tuple[str, Any]]:
    """What a class or function keeps: attributes, default values, variables around it."""
    own = [(key, item) for key, item in list(vars(value).items()) if not _is_private(key)]
    if isinstance(value, types.FunctionType):
        own += [("__defaults__", value.__defaults__), ("__kwdefaults__", value.__kwdefaults__), *parts(value)[1]]
    return [(key, item) for key, item in own if item is not None and _is_plain(item, program)]


def _is_private(name: str) -> bool:
    """Python's own names, and what the compiler notes on functions and puts into the globals of a module.

    Source: names passed to `OutputGraph.install_global` ("__compiled_fn_", "__resume_at_", "__builtins_dict_").
    """
    return name.startswith(("__", "_torch"))


def _is_constant_of_compiler(name: str, module_globals: dict[str, Any]) -> bool:
    """What Dynamo keeps of a call of "step" under torch._dynamo.assume_constant_result is in a global "step_0".

    Source: `OutputGraph.register_attr_or_module`.
    """
    function, _, number = name.rpartition("_")
    return number.isdigit() and hasattr(module_globals.get(function), "_dynamo_marked_constant")


def _is_plain(value: object, program: str) -> bool:
    if isinstance(value, type):
        return False
    if isinstance(value, (*_PLAIN, torch.Tensor, torch.nn.Module, *_GENERATORS)):
        return True
    kind = dotted(type(value))
    if kind == "numpy.ndarray" or kind.startswith("numpy.random."):
        return True
    return kind.split(".")[0] == program or kind in ("collections.deque", "types.SimpleNamespace")


def snapshot(module_globals: dict[str, Any] | None) -> dict[str, Described]:
    """The globals worth watching, described."""
    known = Names()
    return {name: describe(value, name, known, STATE_BYTES, _PARTS) for name, value in plain_globals(module_globals)}


def changed(before: dict[str, Described], after: dict[str, Described]) -> list[tuple[str, Described]]:
    """Those that a call changed, made or deleted, in the order of their names.

    Only these are kept: a rewrite may add constants of its own.
    """
    gone = Described("opaque", "deleted")
    return [(name, after.get(name, gone)) for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
