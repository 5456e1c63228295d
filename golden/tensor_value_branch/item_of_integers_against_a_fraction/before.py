import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    n = (x > 0).sum()
    if n.item() > 1.5:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
