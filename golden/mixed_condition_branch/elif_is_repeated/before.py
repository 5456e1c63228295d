import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag and x.sum() > 3:
        y = x * 2.0
    elif x.sum() > 1:
        y = x * 3.0
    else:
        y = x * 4.0
    return y
