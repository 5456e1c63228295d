import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    y = torch.where(y.sum() > 4.0, y * 2.0, y)
    return y
