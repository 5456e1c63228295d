import torch


@torch.compile
def f(x: torch.Tensor, count: int) -> torch.Tensor:
    y = x.float() + 1.0
    if y.sum() > 0:
        z = y.log() * count
    else:
        z = y * 2.0
    return z
