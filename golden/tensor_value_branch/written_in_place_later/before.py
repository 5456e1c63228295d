import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x
    if x.sum() > 0:
        y = x * 2.0
    y += 1.0
    return y
