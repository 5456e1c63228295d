import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = x.sum()
    y = torch.where(total > 0, x * 2.0, x + 1.0)
    return y - total
