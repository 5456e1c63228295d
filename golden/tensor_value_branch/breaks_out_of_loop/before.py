import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    for step in range(3):
        if x.sum() > 4.0:
            break
        x = x + 1.0
    return x
