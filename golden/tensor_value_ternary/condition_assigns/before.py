import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0 if (total := x.sum()) else x + 1.0
    return y + total
