import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 0.0
    if y.sum() > 0:
        y.neg_().add_(x * 2.0)
    else:
        y.neg_().add_(x + 1.0)
    return y
