"""Which object a value is, and whose memory a tensor lies in, by the names the call gives to its objects."""

from __future__ import annotations

from itertools import product

import torch

_ELEMENTS = 1 << 16


class Names:
    """Objects by name, kept alive so that no other object takes their place in memory."""

    def __init__(self) -> None:
        self._objects: dict[int, tuple[object, str]] = {}
        self._memory: dict[int, list[tuple[str, torch.Tensor]]] = {}

    def add(self, value: object, name: str) -> None:
        """Remember an object under its first name."""
        if id(value) in self._objects:
            return
        self._objects[id(value)] = value, name
        if isinstance(value, torch.Tensor) and (address := _memory(value)):
            # Where its memory lies now: an object can be given other memory later (`x.data = ...`).
            self._memory.setdefault(address, []).append((name, value))

    def same_as(self, value: object, name: str) -> str:
        """The name of the very same object, empty when there is none or it is this name."""
        found = self._objects.get(id(value))
        return found[1] if found is not None and found[1] != name else ""

    def sharing(self, tensor: torch.Tensor, name: str) -> tuple[str, ...]:
        """The names of the other tensors that have an element in common with this one in memory."""
        address = _memory(tensor)
        return tuple(
            other_name
            for other_name, other in (self._memory.get(address, []) if address else [])
            if other is not tensor and other_name != name and _memory(other) == address and _overlap(tensor, other)
        )


def _memory(tensor: torch.Tensor) -> int:
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return tensor.untyped_storage().data_ptr()
    except Exception:  # Sparse, fake and other tensors without memory of their own.
        return 0


def _overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    first, second = _bytes(one), _bytes(other)
    if first.start >= second.stop or second.start >= first.stop:
        return False
    if one.element_size() != other.element_size() or max(one.numel(), other.numel()) > _ELEMENTS:
        return True  # Their ranges do; which elements is not worth the time.
    return not _offsets(one).isdisjoint(_offsets(other))


def _bytes(tensor: torch.Tensor) -> range:
    """The bytes from the first to the last element."""
    if not tensor.numel():
        return range(0)
    size = tensor.element_size()
    last = sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride(), strict=True))
    start = tensor.storage_offset() * size
    return range(start, start + (last + 1) * size)


def _offsets(tensor: torch.Tensor) -> set[int]:
    steps = [
        range(0, int(length * stride), int(stride))
        for length, stride in zip(tensor.shape, tensor.stride(), strict=True)
        if length > 1 and stride
    ]
    return {int(tensor.storage_offset()) + sum(step) for step in product(*steps)}
