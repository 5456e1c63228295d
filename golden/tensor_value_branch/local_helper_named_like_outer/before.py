import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    part = x * 3.0
    if x.sum() > 0:
        part = x * 2.0
        y = part + 2.0
    else:
        y = part - 1.0
    return y
