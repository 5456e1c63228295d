import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    y_true = (x
    + 2.0)
    y = torch.where(x.sum() > 3, y_true + 1.0, y)
    return y
