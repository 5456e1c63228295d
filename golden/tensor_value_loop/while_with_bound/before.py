import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    steps = 0
    while steps < 3 and x.sum() > 1.0:
        x = x * 0.5
        steps += 1
    return x
