import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if not (x < 0).any():
        y = x * 2
    else:
        y = x * 3
    return y
