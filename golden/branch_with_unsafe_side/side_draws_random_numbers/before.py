import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if y.sum() > 0:
        z = y.log() + torch.rand_like(y)
    else:
        z = y * 2.0
    return z
