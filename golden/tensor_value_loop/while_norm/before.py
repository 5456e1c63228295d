import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    while x.norm() > 1.0:
        x = x * 0.5
    return x
