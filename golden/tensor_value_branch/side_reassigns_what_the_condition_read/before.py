import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x + 1.0
    if z.sum() > 3.0:
        z = z * 2.0
        y = z + 1.0
    else:
        y = z * 3.0
    return z + y
