import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 0.5
    y_true = y + 1.0
    y_false = y + 2.0
    x = y_false * 3.0
    return torch.where(y.sum() > 0, y_true * 2.0, x + y_false)
