import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    extra_true = x * 2.0
    extra_true_2 = x * 3.0
    y = torch.where(x.sum() > 0, extra_true - 1.0, y)
    return y
