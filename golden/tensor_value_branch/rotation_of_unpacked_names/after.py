import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    condition = x.sum() > 0
    a, b, c = torch.where(condition, b, a), torch.where(condition, c, b), torch.where(condition, a, c)
    return a * 5.0 + b * 7.0 + c
