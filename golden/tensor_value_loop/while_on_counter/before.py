import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    n = 0
    while n < 3:
        x = x * 0.5
        n += 1
    return x
