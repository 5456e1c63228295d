import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag and x.sum() > 0:
        return x * 2.0
    else:
        y = x + 1.0
    return y + 3.0
