import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x
    if x.sum() > 0:
        y = y * 2.0
    return y - 1.0
