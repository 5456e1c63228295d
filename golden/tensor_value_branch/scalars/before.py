import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    total = x.sum() * 2.0
    if total > 1.0:
        total = total * 0.5
    return x - total
