"""One call as a recipe: what the arguments are made of, without a tensor in it.

Every version of the program builds its own arguments from the same recipe, in its own process; a recipe is small, can
be compared, shrunk, sent and printed as source. Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Scalar: TypeAlias = bool | int | float | complex | str | None


@dataclass(frozen=True)
class Listed:
    """The elements one by one, in row-major order."""

    numbers: tuple[bool | int | float | complex, ...]


@dataclass(frozen=True)
class Drawn:
    """Elements from a generator of their own, seeded: shift + scale * normal; integers are rounded, bool is > 0.

    special: elements put in afterwards, by their row-major index. low, high: all drawn elements are kept within.
    """

    seed: int
    scale: float = 1.0
    shift: float = 0.0
    special: tuple[tuple[int, float], ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class TensorRecipe:
    """A tensor. dtype as torch prints it, without "torch.".

    layout: "contiguous", "transposed" (the last two dimensions, or all of one's memory reversed), "sliced" (every
    second element of a larger tensor), "offset" (not at the beginning of its memory), "expanded" (stride 0 in the
    dimensions of size > 1 that `expanded` names; the elements are then those along the other dimensions), or
    "strided" with `strides`.
    parameter: an nn.Parameter.
    """

    dtype: str
    shape: tuple[int, ...]
    values: Listed | Drawn
    layout: str = "contiguous"
    expanded: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    requires_grad: bool = False
    parameter: bool = False


@dataclass(frozen=True)
class Constant:
    """A plain Python value."""

    value: Scalar


@dataclass(frozen=True)
class Expression:
    """A value that source text gives, with torch imported: "torch.float16", "slice(1, None)"."""

    source: str


@dataclass(frozen=True)
class Container:
    """kind: "tuple", "list" or "dict" (keys are texts)."""

    kind: str
    items: tuple[tuple[str, Recipe], ...]


@dataclass(frozen=True)
class SameAs:
    """The very object of an earlier argument, or with `view` another tensor on the same memory."""

    argument: str
    view: bool = False


Recipe: TypeAlias = TensorRecipe | Constant | Expression | Container | SameAs


@dataclass(frozen=True)
class Given:
    """Arguments that the user's own strategy made: torch.save of (args, kwargs), and a short text for people."""

    data: bytes
    text: str


@dataclass(frozen=True)
class Example:
    """One call. arguments: by parameter name, in order; a name with "*" in front holds what goes into *args.

    given: in place of `arguments`. training: the mode of a module target, None for another target. module_seed: of the
    generator that initialises a module's parameters. grad_enabled: run with gradients on.
    """

    arguments: tuple[tuple[str, Recipe], ...] = ()
    given: Given | None = None
    grad_enabled: bool = True
    training: bool | None = None
    module_seed: int = 0
