import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 0.5
    if y.sum() > 0:
        y = y + 1.0
        return y * 2.0
    y = y + 2.0
    x = y * 3.0
    return x + y
