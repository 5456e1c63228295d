import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum().item() in (0.1, 6.0):
        y = x * 2.0
    else:
        y = x + 1.0
    return y
