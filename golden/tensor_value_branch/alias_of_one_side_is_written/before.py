import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if x.sum() > 3:
        z = x.float() * 2.0
    else:
        z = y
    z.add_(1.0)
    return y + z
