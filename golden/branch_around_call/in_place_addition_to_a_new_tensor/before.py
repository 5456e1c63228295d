import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    if x.sum() > 0:
        y.add_(x * 2.0)
    else:
        y.add_(x + 3.0)
    return y
