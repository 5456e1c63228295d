import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if y.sum() > 0:
        z = y**0.5
    else:
        z = y * 2.0
    return z
