"""Values by name or dotted path, the way Python would find them, but only where that runs no code of the program."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

from gbfix.evidence.describe import SCALARS, class_attribute, describe, instance_dict, is_subclass

MISSING = object()
PLAIN_ACCESS = (object.__getattribute__, types.SimpleNamespace.__getattribute__)
MODULE_STORES = ("_parameters", "_buffers", "_modules")
RECORDED_GLOBALS = frozenset({"tensor", "bool", "int", "float", "module"})


def attribute(value: object, name: str) -> Any:  # noqa: ANN401
    """An attribute of an object; MISSING where it is not plainly stored: properties and `__getattr__` are not run."""
    cls = type(value)
    access = class_attribute(cls, "__getattribute__")[1]
    if not any(access is plain for plain in PLAIN_ACCESS) or is_subclass(cls, type):
        return MISSING
    held, found = class_attribute(cls, name)
    if held and isinstance(found, types.MemberDescriptorType):
        return _slot(found, value)
    if held and (class_attribute(type(found), "__set__")[0] or class_attribute(type(found), "__delete__")[0]):
        return MISSING
    attributes = instance_dict(value)
    if name in attributes:
        return attributes[name]
    if held:
        return MISSING if class_attribute(type(found), "__get__")[0] else found
    return _module_attribute(value, attributes, name)


def path_value(names: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401
    """What a dotted path leads to from the names given, or MISSING."""
    first, *rest = path.split(".")
    value = names.get(first, MISSING)
    for name in rest:
        if value is MISSING:
            return MISSING
        value = attribute(value, name)
    return value


def is_recorded_global(value: object) -> bool:
    """Whether a global is worth recording: a tensor, a number or a module."""
    return type(value) in SCALARS or describe(value, depth=0)["kind"] in RECORDED_GLOBALS


def _slot(descriptor: types.MemberDescriptorType, value: object) -> Any:  # noqa: ANN401
    try:
        return descriptor.__get__(value)
    except AttributeError:
        return MISSING


def _module_attribute(value: object, attributes: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401
    """A parameter, buffer or submodule, as `torch.nn.Module.__getattr__` finds them unless a class replaces that."""
    torch: Any = sys.modules.get("torch")
    module: Any = getattr(getattr(torch, "nn", None), "Module", None)
    if not is_subclass(type(value), module):
        return MISSING
    if class_attribute(type(value), "__getattr__")[1] is not class_attribute(module, "__getattr__")[1]:
        return MISSING
    for store in MODULE_STORES:
        held: Any = attributes.get(store)
        if is_subclass(type(held), dict) and dict.__contains__(held, name):
            return dict.__getitem__(held, name)
    return MISSING
