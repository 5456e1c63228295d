import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    y.add_(torch.where(x.sum() > 0, x * 2.0, x + 3.0))
    return y
