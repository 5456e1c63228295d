import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    if x.sum() > 0 and x.shape[0] > 2:
        y = y * 2.0
    return y
