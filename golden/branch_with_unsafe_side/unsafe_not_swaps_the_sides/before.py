import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if not y.sum() > 0:
        z = y * 2.0
    else:
        z = y.log()
    return z
