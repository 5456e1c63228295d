import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    while (x > 1.0).any():
        x = x * 0.5
    return x
