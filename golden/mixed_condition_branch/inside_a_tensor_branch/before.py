import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x + 1.0
    if x.sum() > 0:
        if flag and x.sum() > 3:
            y = y * 2.0
    return y
