import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if y.sum() > 0:
        z = other = y.log()
    else:
        z = other = y * 2.0
    return z + other
