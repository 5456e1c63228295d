import torch


@torch.compile
def f(x: torch.Tensor, number: int) -> torch.Tensor:
    y = x + 1.0
    if (limit := number + 1) > 2 and x.sum() > 3:
        y = y * 2.0
    return y
