import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 1
    y = y.clamp(max=3)
    return y
