import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    condition = x * 2.0
    if x.sum() > 0:
        a, b = condition + 1.0, condition - 1.0
    else:
        a, b = condition - 2.0, condition + 2.0
    return a - b * 2.0
