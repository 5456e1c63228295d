import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if (torch.rand_like(y) > 0.5).any():
        y = y.masked_fill(torch.rand_like(y) > 0.5, 0.0)
    return y
