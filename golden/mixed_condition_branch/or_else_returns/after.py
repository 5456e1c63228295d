import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag:
        y = x * 2.0
        return y + 3.0
    else:
        y_true = x * 2.0
        return torch.where(x.sum() > 0, y_true + 3.0, x + 1.0)
