import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    for step in range(3):
        x = x + step
    return x
