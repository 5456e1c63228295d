"""Type promotion between dtypes that are known by name, as `torch.promote_types` and `torch.result_type` do it."""

from __future__ import annotations

from collections.abc import Iterable

_INTEGERS = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64}
_FLOATS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
_COMPLEX = {"complex64": 32, "complex128": 64}
_RANK = {"bool": 0, **dict.fromkeys(_INTEGERS, 1), **dict.fromkeys(_FLOATS, 2), **dict.fromkeys(_COMPLEX, 3)}


def promote_types(first: str, second: str) -> str | None:
    """The dtype of an operation on dimensioned tensors of two dtypes; None where one is not known here."""
    if first not in _RANK or second not in _RANK:
        return None
    low, high = sorted((first, second), key=lambda name: _RANK[name])
    if low == high or low == "bool":
        return high
    if high in _INTEGERS:
        return _promote_integers(low, high)
    if high in _FLOATS:
        return _promote_floats(low, high) if low in _FLOATS else high
    width = max(_COMPLEX[high], _COMPLEX.get(low, _FLOATS.get(low, 32)))
    return "complex128" if width == 64 else "complex64"


def _promote_integers(first: str, second: str) -> str:
    if "uint8" in (first, second):
        other = second if first == "uint8" else first
        return "int16" if other == "int8" else other
    return max(first, second, key=lambda name: _INTEGERS[name])


def _promote_floats(first: str, second: str) -> str:
    if _FLOATS[first] == _FLOATS[second]:
        return "float32"  # float16 with bfloat16: neither holds the other
    return max(first, second, key=lambda name: _FLOATS[name])


def promote(operands: Iterable[tuple[str, bool]]) -> str | None:
    """The dtype of an operation on tensors, each given as its dtype and whether it has dimensions.

    A tensor without dimensions counts only when its category is higher. None where a dtype is not known here.
    """
    found = list(operands)
    if not found or any(name not in _RANK for name, _ in found):
        return None
    dimensioned = [name for name, dimensions in found if dimensions]
    single = [name for name, dimensions in found if not dimensions]
    if not dimensioned or not single:
        return _all([*dimensioned, *single])
    high, low = _all(dimensioned), _all(single)
    if high is None or low is None:
        return None
    return high if _RANK[low] <= _RANK[high] else _over(high, low)


def _over(dimensioned: str, single: str) -> str | None:
    """A 0-d tensor of a higher category gives its category; a floating tensor keeps its width under a complex one."""
    if single in _COMPLEX and dimensioned in _FLOATS:
        return "complex128" if dimensioned == "float64" else "complex64" if dimensioned == "float32" else None
    return promote_types(dimensioned, single)


def _all(names: list[str]) -> str | None:
    found: str | None = names[0]
    for name in names[1:]:
        found = promote_types(found, name) if found is not None else None
    return found
