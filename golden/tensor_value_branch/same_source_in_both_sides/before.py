import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        a = x + 1.0
        b = x * 2.0
    else:
        a = x + 1.0
        b = x * 3.0
    return a - b
