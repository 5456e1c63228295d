import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 1.0
    while (y > 1).any() and torch.isfinite(y).all():
        y = y - 1
        if (y > 20).any():
            y = y * 0.25
    return y
