"""The elements of small integer tensors that a program calls its compiled functions with.

Which tokens stand where decides what a model does, and no random ones fit together with its other arguments. Kept only
where modules are saved, for the checks of the same command. Standard library only; torch is what the program imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from gbfix.evidence.saved_modules import FOLDER

MOST = 512
"""Elements of a tensor that is kept."""
_KINDS = frozenset({"bool", "uint8", "int8", "int16", "int32", "int64"})


def integers_of(arguments: Mapping[str, object]) -> dict[str, list[int]]:
    """The elements of the integer tensors among arguments and in their containers, by path; nothing where not wanted.

    Paths are those of `equivalence.forms`: "ids", "batch[ids]". Raises nothing.
    """
    if not os.environ.get(FOLDER):
        return {}
    try:
        return {path: numbers for name, value in arguments.items() for path, numbers in _found(name, value, 2)}
    except Exception:  # a tensor under a mode of the program, or one that has no elements
        return {}


def _found(path: str, value: Any, depth: int) -> Iterator[tuple[str, list[int]]]:  # noqa: ANN401
    torch: Any = sys.modules["torch"]
    if type(value) is torch.Tensor:
        if _is_small(value, torch):
            yield path, [int(number) for number in value.detach().flatten().tolist()]
    elif type(value) in (list, tuple, dict) and depth:
        items = value.items() if type(value) is dict else enumerate(value)
        for key, item in items:
            yield from _found(f"{path}[{key}]", item, depth - 1)


def _is_small(tensor: Any, torch: Any) -> bool:  # noqa: ANN401
    plain = tensor.layout is torch.strided and tensor.device.type == "cpu"
    return plain and str(tensor.dtype).removeprefix("torch.") in _KINDS and tensor.numel() <= MOST
