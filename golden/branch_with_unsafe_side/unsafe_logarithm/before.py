import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if (y > 0).all():
        z = y.log()
    else:
        z = y * 2.0
    return z
