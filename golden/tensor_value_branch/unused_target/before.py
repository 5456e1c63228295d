import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    if x.sum() > 0:
        extra = x * 2.0
        y = extra - 1.0
    else:
        extra = x * 3.0
    return y
