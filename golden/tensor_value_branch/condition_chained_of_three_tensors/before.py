import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    low = x.sum()
    high = x.float().sum() * 2.0
    if low < high < 10.0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
