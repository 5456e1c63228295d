import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    condition = x.sum() > 0
    a = x + 1.0
    b = torch.where(condition, x * 2.0, x * 3.0)
    return a - b
