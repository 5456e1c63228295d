import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    s = x.sum()
    if s > 4.0:
        y = x + 2.0
    elif s > 0:  # small
        y = x + 1.0
    else:
        y = x * 2.0
    return y
