import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    s = x.float().sum()
    if (s > 5 or s < -5) and s != 6:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
