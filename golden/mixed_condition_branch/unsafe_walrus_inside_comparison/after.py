import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x - 1.0
    if flag:
        total = x.sum()
        y = torch.where(total > 3, x * total, y)
    return y
