import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.dim() == 1:
        y = x + 1.0
    if x.sum() > 0:
        y = x * 2.0
    return y
