import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 4.0:
        return x * 2.0
    if x.sum() > 0:
        return x + 1.0
    return x * 3.0
