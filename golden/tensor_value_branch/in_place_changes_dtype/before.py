import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    if x.sum() > 0:
        y += 1.5
    return y
