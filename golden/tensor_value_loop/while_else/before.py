import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    while x.sum() > 1.0:
        x = x * 0.5
    else:
        x = x + 1.0
    return x
