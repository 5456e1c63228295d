import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = (x * x).sum()
    y = x + 1.0
    return torch.where(total > 1.5, x * 2.0, y * 2.0)
