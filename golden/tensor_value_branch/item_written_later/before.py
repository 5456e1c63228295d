import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float()
    if x.sum() > 0:
        y = x.float() * 2.0
    y[0] = 7.0
    return y
