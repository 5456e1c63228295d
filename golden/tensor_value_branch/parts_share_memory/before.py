import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    first, second, third = y
    if x.sum() > 0:
        y += 2.0
    return first + y
