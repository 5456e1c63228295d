import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if not (x < 0).any():
        y = x + 1
    else:
        y = x - 1
    return y
