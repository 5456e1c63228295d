import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    positive = x.sum() > 0
    if positive:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
