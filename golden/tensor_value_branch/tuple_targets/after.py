import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    condition = x.sum() > 0
    a = torch.where(condition, x + 1.0, x - 2.0)
    b = torch.where(condition, x - 1.0, x + 2.0)
    return a * 3.0 - b
