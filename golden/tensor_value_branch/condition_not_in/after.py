import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = x.sum()
    y = torch.where(torch.logical_not(torch.logical_or(total == 0, total == 6)), x * 2.0, x + 1.0)
    return y
