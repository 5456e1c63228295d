import torch


@torch.compile
def f(x: torch.Tensor, number: int) -> torch.Tensor:
    y = x + 1.0
    if (limit := number + 1) > 2:
        y = torch.where(x.sum() > 3, y * 2.0, y)
    return y
