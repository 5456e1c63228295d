import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    if x.sum() > 0:
        z = y
        y.add_(x * 2.0)
    else:
        z = x * 3.0
        y.add_(x + 1.0)
    return y + z
