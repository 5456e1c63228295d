import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    if flag:
        y = y * 2.0
    else:
        y = torch.where(x.sum() > 0, y * 2.0, y)
    return y
