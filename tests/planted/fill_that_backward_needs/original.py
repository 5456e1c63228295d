import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    mask = y > 1e30
    if mask.any():
        y[mask] = 0.0
    return y.sum()
