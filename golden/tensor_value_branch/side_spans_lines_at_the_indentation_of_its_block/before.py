import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    if x.sum() > 3:
        y = (x
        + 2.0)
        y = y + 1.0
    return y
