import copy

import torch


@torch.compile
def f(x: torch.Tensor, deep: bool):
    parts = [x, x + 1.0]
    if deep:
        parts = [x * 3.0]
    others = parts.copy()
    others.append(x * 2.0)
    named: dict = {"a": x}
    renamed = named.copy()
    renamed["b"] = x - 1.0
    seen = copy.copy(set([1, 2])) if deep else {1}.copy()
    return parts, others, named, renamed, [part for part in parts].copy()[0] * len(seen)
