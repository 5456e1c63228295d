"""Arguments for generated programs, as Python source that makes them anew at each call.

`tensor` is what that source calls; a reproduced program brings its text along.
"""

from __future__ import annotations

import torch

VALUES = ("mixed", "positive", "negative", "zeros", "nan", "infinite", "tiny", "large", "ones")
SHAPES = ("(4,)", "(2, 3)", "()", "(1,)", "(0,)", "(3, 1)")
DTYPES = ("float32", "float64", "float16", "int64", "bfloat16")
LAYOUTS = ("plain", "transposed", "expanded", "strided")


def tensor(
    values: str = "mixed",
    shape: tuple[int, ...] = (4,),
    dtype: str = "float32",
    grad: bool = False,
    layout: str = "plain",
    seed: int = 0,
) -> torch.Tensor:
    """A tensor of the kind that the words say, the same at every call."""
    count = 1
    for size in shape:
        count *= size
    steps = torch.arange(count, dtype=torch.float64) + seed
    base = torch.sin(steps * 1.7 + 0.3) * 3
    made = {
        "mixed": base,
        "positive": base.abs() + 0.25,
        "negative": -base.abs() - 0.25,
        "zeros": base * 0,
        "nan": torch.where(steps.long() % 2 == seed % 2, torch.tensor(float("nan"), dtype=torch.float64), base),
        "infinite": torch.where(steps.long() % 2 == 1, torch.tensor(float("inf"), dtype=torch.float64), base),
        "tiny": base * 1e-6,
        "large": base * 1e4,
        "ones": base * 0 + 1,
    }[values]
    made = torch.nan_to_num(made) if dtype == "int64" else made
    made = made.reshape(shape).to(getattr(torch, dtype))
    if layout == "transposed":
        made = made.t().contiguous().t() if made.dim() > 1 else made
    elif layout == "expanded" and made.dim() > 0:
        made = made[:1].expand(made.shape) if made.shape[0] else made
    elif layout == "strided" and made.dim() > 0:
        made = torch.stack([made, made], -1)[..., 0]
    return made.requires_grad_() if grad and made.is_floating_point() else made


VARIATIONS = (
    "as it is",
    "negated",
    "zeroed",
    "nan",
    "infinite",
    "float64",
    "float16",
    "int64",
    "grad",
    "strided",
    "small",
)


def varied(args: tuple[object, ...], how: str) -> tuple[object, ...]:
    """Arguments of the same structure, with every floating tensor changed in one way."""
    return tuple(_varied(value, how) for value in args)


def _varied(value: object, how: str) -> object:
    if isinstance(value, torch.nn.Module | torch.Size) or how == "as it is":
        return value
    if type(value) in (tuple, list):
        assert isinstance(value, tuple | list)
        return type(value)(_varied(part, how) for part in value)
    if type(value) is not torch.Tensor or not value.is_floating_point():
        return value
    with torch.no_grad():
        changed = value.detach().clone()
        if how == "negated":
            changed = -changed
        elif how == "zeroed":
            changed.zero_()
        elif how in ("nan", "infinite"):
            changed.reshape(-1)[::2] = float("nan" if how == "nan" else "inf")
        elif how == "strided" and changed.dim():
            changed = torch.stack([changed, changed], -1)[..., 0]
        elif how == "small":
            changed = changed * 1e-3
        elif how in ("float64", "float16", "int64"):
            changed = torch.nan_to_num(changed).to(getattr(torch, how))
    wants = value.requires_grad != (how == "grad")
    return changed.requires_grad_() if wants and changed.is_floating_point() else changed
