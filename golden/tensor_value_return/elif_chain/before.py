import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    s = x.sum()
    if s > 4.0:
        return x * 2.0
    elif s > 0:
        return x + 1.0
    else:
        return x + 2.0
