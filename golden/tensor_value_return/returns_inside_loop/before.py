import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    for step in range(3):
        if x.sum() > 4.0:
            return x * 2.0
        x = x + 1.0
    return x * 3.0
