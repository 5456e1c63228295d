import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum():
        y = x * 2
    else:
        y = x * 3
    return y
