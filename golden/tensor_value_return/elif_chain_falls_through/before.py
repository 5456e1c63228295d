import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 4.0:
        return x * 2.0
    elif x.sum() > 0:
        return x + 1.0
    y = x * 3.0
    return y + 2.0
