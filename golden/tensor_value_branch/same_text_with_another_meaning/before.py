import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x + 1.0
    if x.sum() > 0:
        z = x * 2.0
        y = z + 1.0
    else:
        y = z + 1.0
        z = x * 3.0
    return z + y * 2.0
