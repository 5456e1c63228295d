"""Which sizes of a compiled function's arguments differed between its calls, in a recorded run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from keyword import iskeyword

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.engine.dataclass import dataclass

_PLAIN = "torch.Tensor"
EVERY_ITEM = "[*]"
"""Stands in a path for all items of a list or tuple."""

_FEW = 2
"""As many marks of items are written out."""
_NUMBERED = re.compile(r"(?:\[\d+\])+")
SPECIAL = (0, 1)
"""The sizes that PyTorch always compiles for themselves."""


@dataclass(frozen=True)
class Varying:
    """The sizes of one tensor that differed. parameter, path: it is `x`, or `x['mask']` with the path "['mask']".

    rank: None when only the guards tell of it. seen: the sizes of each dimension, in order.
    """

    parameter: str
    path: str
    dimensions: tuple[int, ...]
    seen: tuple[tuple[int, ...], ...]
    rank: int | None = None
    is_tensor: bool = False
    """True when the run shows that it was a plain tensor in every recorded call."""

    @property
    def told(self) -> str:
        """The sizes in words: "x, dimension 0 (4, 6)"."""
        parts = [
            f"dimension {dimension} ({', '.join(map(str, sizes))})"
            for dimension, sizes in zip(self.dimensions, self.seen, strict=True)
        ]
        return f"{self.text}, {' and '.join(parts)}"

    @property
    def text(self) -> str:
        """What varies, as a reader would write it."""
        return f"each tensor in {self.parameter}" if EVERY_ITEM in self.path else self.parameter + self.path


def from_calls(calls: Sequence[Mapping[str, ValueSpec]]) -> tuple[Varying, ...]:
    """What varies between calls, of which each gives what its arguments were."""
    seen: dict[tuple[str, str], list[ValueSpec]] = {}
    for call in calls:
        for parameter, spec in call.items():
            for path, inner in tensors_in(spec):
                seen.setdefault((parameter, path), []).append(inner)
    found = []
    for (parameter, path), specs in seen.items():
        shapes = [shape for spec in specs if spec.tensor is not None and (shape := _shape(spec.tensor)) is not None]
        if len(specs) != len(calls) or len(shapes) != len(specs) or len({len(shape) for shape in shapes}) != 1:
            continue
        sizes = [tuple(dict.fromkeys(each)) for each in zip(*shapes, strict=True)]
        dimensions = tuple(number for number, each in enumerate(sizes) if len(each) > 1)
        if dimensions:
            plain = all(spec.type == _PLAIN for spec in specs)
            seen_sizes = tuple(sizes[number] for number in dimensions)
            found.append(Varying(parameter, path, dimensions, seen_sizes, len(shapes[0]), plain))
    return tuple(_with_items_together(found, calls))


def _with_items_together(found: Sequence[Varying], calls: Sequence[Mapping[str, ValueSpec]]) -> Iterator[Varying]:
    """The sizes that vary, with one for all items of a container that are tensors and vary in the same dimensions."""
    for parameter in dict.fromkeys(one.parameter for one in found):
        its = [one for one in found if one.parameter == parameter]
        paths = {one.path for one in its}
        alike = len({(one.dimensions, one.rank, one.path.count("[")) for one in its}) == 1
        numbered = all(_NUMBERED.fullmatch(path) for path in paths)
        if len(its) <= _FEW or not alike or not numbered or any(leaves(call[parameter]) != paths for call in calls):
            yield from its
            continue
        seen = tuple(tuple(dict.fromkeys(size for one in its for size in one.seen[n])) for n in range(len(its[0].seen)))
        path = EVERY_ITEM * its[0].path.count("[")
        yield Varying(parameter, path, its[0].dimensions, seen, its[0].rank, all(one.is_tensor for one in its))


def leaves(spec: ValueSpec, path: str = "") -> set[str]:
    """The paths of all that is in lists and tuples, tensors or not."""
    if (
        spec.kind in ("list", "tuple")
        and spec.type == spec.kind
        and len(spec.items) == (spec.length or len(spec.items))
    ):
        return {leaf for key, item in spec.items for leaf in leaves(item, f"{path}[{key}]")}
    return {path}


def tensors_in(spec: ValueSpec, path: str = "") -> Iterator[tuple[str, ValueSpec]]:
    """The tensors in a value, with the text that reads each from it; of containers only plain ones."""
    if spec.kind == "tensor":
        yield path, spec
    elif spec.type == spec.kind and spec.kind in ("list", "tuple", "dict") and path.count("[") < 2:
        for key, item in spec.items:
            if spec.kind != "dict":
                yield from tensors_in(item, f"{path}[{key}]")
            elif key.isidentifier() and not iskeyword(key):  # other text may stand for a key that is no string
                yield from tensors_in(item, f"{path}[{key!r}]")


def _shape(tensor: TensorSpec) -> tuple[int, ...] | None:
    sizes = tuple(size for size in tensor.shape if isinstance(size, int))
    return sizes if len(sizes) == len(tensor.shape) else None
