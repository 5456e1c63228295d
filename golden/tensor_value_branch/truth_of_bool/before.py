import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if (x > 2.5).any():
        y = x * 2.0
    else:
        y = x + 1.0
    return y
