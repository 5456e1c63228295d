import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    if flag:
        condition = x.sum() > 3
        y_true = x * 2.0
        y = torch.where(condition, y_true, y)
        z = torch.where(condition, y_true - 1.0, x * 3.0)
    else:
        z = x * 3.0
    return y + z
