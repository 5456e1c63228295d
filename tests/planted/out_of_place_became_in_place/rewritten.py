import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    x *= 2
    x += 1
    return x
