import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 0.0
    condition = y.sum() > 0
    y.neg_().add_(torch.where(condition, x * 2.0, x + 1.0))
    return y
