import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag:
        condition = x.sum() > 0
        low = torch.where(condition, x - 1.0, x - 3.0)
        high = torch.where(condition, x * 2.0, x + 1.0)
    else:
        low, high = x - 3.0, x + 1.0
    return low + high
