import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.mean() > 0:
        y = x + 1
    else:
        y = x - 1
    return y
