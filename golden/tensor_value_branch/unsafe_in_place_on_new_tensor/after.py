import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    y = torch.where(x.sum() > 0, y + 2.0, y * 3.0)
    return y
