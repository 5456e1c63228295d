import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    if y.sum() > 8.0:
        z = y - 1.0
    else:
        z = y + 1.0
    return z
