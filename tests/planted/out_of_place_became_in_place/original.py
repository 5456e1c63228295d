import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    x = x * 2
    x = x + 1
    return x
