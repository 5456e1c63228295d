import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    part = x * 3.0
    part_true = x * 2.0
    y = torch.where(x.sum() > 0, part_true + 2.0, part - 1.0)
    return y
