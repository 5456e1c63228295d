import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if torch.rand(1).sum() > 0.7:
        y = x * 2.0
    else:
        y = x + 1.0
    return y * torch.rand(1)
