import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    if flag and x.sum() > 3:
        y = x * 2.0
        z = y - 1.0
    else:
        z = x * 3.0
    return y + z
