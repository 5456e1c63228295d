"""Any value as plain data (`Described`): bits, types, identity, shared memory; nothing in it is ever called.

Tensors are taken bit for bit. Iterators are not consumed, `repr` is only asked of scalars and of objects without
attributes, and never kept when it holds a memory address. Cycles end in "same"; what lies deeper than 30 levels, or
comes after 20000 parts, is "opaque".
"""

from __future__ import annotations

import enum
import random
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import torch

from gbfix.equivalence.identity import Names
from gbfix.equivalence.model import Described, TensorFacts
from gbfix.equivalence.parts import dotted, parts, path, unwrapped
from gbfix.equivalence.steady_text import without_addresses
from gbfix.equivalence.tensor_facts import digest, raw_bytes, tensor_facts

_DEPTH = 30
_PARTS = 20_000
_SCALARS = (bool, int, float, complex, str, bytes, bytearray, type(None), type(...), range, slice)
_TORCH_SCALARS = (torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format)
_CALLABLES = (types.BuiltinFunctionType, type, types.ModuleType)
_FUNCTIONS = (types.FunctionType, types.MethodType)
RESULT_BYTES = 1 << 26
"""Larger tensors of results and arguments are described by a digest."""
GRADIENT_BYTES = 1 << 24
"""Larger gradients are described by a digest."""
STATE_BYTES = 1 << 20
"""Larger tensors in the state of modules and globals are described by a digest."""


def describe(
    value: object, name: str, names: Names | None = None, limit: int = RESULT_BYTES, count: int = _PARTS
) -> Described:
    """A value as data. name: what it is called ("result", "x"). names: the objects it can be the same as.

    limit: of a tensor's bytes; of larger ones a digest is kept in place of the elements, with the text "digest".
    count: of the parts that are looked into.
    """
    with torch._C.DisableTorchFunctionSubclass():
        return _Description(names or Names(), limit, count).of(value, name, 0)


class _Description:
    def __init__(self, names: Names, limit: int, count: int) -> None:
        self._names = names
        self._limit = limit
        self._left = count
        self._met: dict[int, str] = {}

    def of(self, value: object, name: str, depth: int) -> Described:
        value = unwrapped(value)
        self._left -= 1
        if isinstance(value, torch.Tensor):
            return self._tensor(value, name, depth)
        scalar = _scalar(value)
        if scalar is not None:
            return scalar
        if depth > _DEPTH or self._left < 0:
            return Described("opaque", dotted(type(value)), text="not looked into")
        kind, items = parts(value)
        if kind == "opaque":
            return Described("opaque", dotted(type(value)), text=_plain_repr(value))
        same = ""
        if kind == "function" and id(value) in self._met:  # A closure that holds itself.
            return Described("same", dotted(type(value)), same_as=self._met[id(value)])
        if kind == "function":
            self._met[id(value)] = name
        elif not isinstance(value, tuple | frozenset):  # Nobody relies on which of two equal ones it is.
            if id(value) in self._met:
                return Described("same", dotted(type(value)), same_as=self._met[id(value)])
            self._met[id(value)] = name
            same = self._names.same_as(value, name)
            self._names.add(value, name)
        described = tuple((key, self.of(item, path(name, key), depth + 1)) for key, item in items)
        if isinstance(value, set | frozenset):  # Their order depends on hashes, which differ between processes.
            ordered = sorted((item for _, item in described), key=repr)
            described = tuple((str(index), item) for index, item in enumerate(ordered))
        text = _name(value) if kind == "function" else ""
        return Described(kind, dotted(type(value)), text=text, items=described, same_as=same)

    def _tensor(self, tensor: torch.Tensor, name: str, depth: int) -> Described:
        if id(tensor) in self._met:
            return Described("same", dotted(type(tensor)), same_as=self._met[id(tensor)])
        self._met[id(tensor)] = name
        same, shares = self._names.same_as(tensor, name), self._names.sharing(tensor, name)
        self._names.add(tensor, name)
        facts, text = tensor_facts(tensor, self._limit)
        items = []
        if facts.is_leaf and depth <= _DEPTH and tensor.grad is not None:
            items.append(("grad", self.of(tensor.grad, f"{name}.grad", depth + 1)))
        elif not facts.is_leaf and tensor.retains_grad:
            items.append(("retains_grad", self.of(True, name, depth + 1)))
        # Attributes that a program hung on it; those of torch (`_dynamo_dynamic_indices`) begin with "_".
        own = [(key, item) for key, item in vars(tensor).items() if not key.startswith("_")]
        items += [(key, self.of(item, f"{name}.{key}", depth + 1)) for key, item in own]
        return Described("tensor", dotted(type(tensor)), facts, text, tuple(items), same, () if same else shares)


def _scalar(value: object) -> Described | None:
    kind = dotted(type(value))
    if isinstance(value, enum.Enum):
        return Described("scalar", kind, text=f"{type(value).__name__}.{value.name}")
    if type(value) in _SCALARS or isinstance(value, _TORCH_SCALARS):
        return Described("scalar", kind, text=without_addresses(repr(value)) if isinstance(value, str) else repr(value))
    if isinstance(value, int | float | complex | str | bytes):  # A class of the program's own, with any `repr`.
        base = next(one for one in (int, float, complex, str, bytes) if isinstance(value, one))
        return Described("scalar", kind, text=base.__repr__(value))
    if isinstance(value, _CALLABLES):
        return Described("opaque", kind, text=_name(value))
    if isinstance(value, torch.Generator):
        return Described("scalar", kind, text=f"state {digest(raw_bytes(value.get_state()))}")
    if isinstance(value, random.Random):
        return Described("scalar", kind, text=f"state {digest(repr(value.getstate()).encode())}")
    if kind == "numpy.ndarray":
        return _array(value, kind)
    if kind.startswith("numpy.random."):
        state = getattr(value, "bit_generator", value)
        return Described("scalar", kind, text=f"state {digest(repr(getattr(state, 'state', state)).encode())}")
    if kind.startswith("numpy.") and hasattr(value, "dtype") and hasattr(value, "tobytes"):
        return Described("scalar", kind, text=repr(value))
    return None


def _name(value: object) -> str:
    module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", getattr(value, "__name__", ""))
    return f"{module}.{own}" if module else own


def _array(
    value: Any,  # noqa: ANN401  (numpy may be missing)
    kind: str,
) -> Described:
    strides = tuple(stride // max(value.itemsize, 1) for stride in value.strides)
    data = b"" if value.dtype.hasobject else value.tobytes()
    text = repr(value.tolist()) if value.dtype.hasobject else ""
    facts = TensorFacts(str(value.dtype), tuple(value.shape), strides, "cpu", False, data, layout="numpy")
    return Described("tensor", kind, facts, without_addresses(text))


def _plain_repr(value: object) -> str:
    if isinstance(value, Iterator) or type(value).__repr__ is object.__repr__:
        return ""
    try:
        text = repr(value)
    except Exception:
        return ""
    return text if without_addresses(text) == text and len(text) < 2000 else ""


def objects_in(value: object, name: str) -> list[tuple[str, Any]]:
    """All objects in a value that have an identity worth knowing, with their names, each once, in a fixed order."""
    waiting: deque[tuple[str, Any, int]] = deque([(name, value, 0)])
    met: set[int] = set()
    found: list[tuple[str, Any]] = []
    for _ in range(_PARTS):
        if not waiting:
            break
        own, current, depth = waiting.popleft()
        current = unwrapped(current)
        if id(current) in met or depth > _DEPTH or _has_no_parts(current):
            continue
        met.add(id(current))
        if not isinstance(current, (tuple, frozenset, *_FUNCTIONS)):
            found.append((own, current))
        if not isinstance(current, torch.Tensor):
            waiting.extend((path(own, key), item, depth + 1) for key, item in parts(current)[1])
    return found


def tensors_in(value: object, name: str) -> list[tuple[str, torch.Tensor]]:
    """The tensors in a value with their names, each object once, in a fixed order."""
    return [(own, found) for own, found in objects_in(value, name) if isinstance(found, torch.Tensor)]


def _has_no_parts(value: object) -> bool:
    return isinstance(value, (*_SCALARS, *_TORCH_SCALARS, *_CALLABLES, enum.Enum))
