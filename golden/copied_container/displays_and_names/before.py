import copy

import torch


@torch.compile
def f(x: torch.Tensor, deep: bool):
    parts = [x, x + 1.0]
    if deep:
        parts = [x * 3.0]
    others = copy.copy(parts)
    others.append(x * 2.0)
    named: dict = {"a": x}
    renamed = copy.copy(named)
    renamed["b"] = x - 1.0
    seen = copy.copy(set([1, 2])) if deep else copy.copy({1})
    return parts, others, named, renamed, copy.copy([part for part in parts])[0] * len(seen)
