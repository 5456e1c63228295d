import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if y.sum() > 0:
        z = torch.sqrt(y)
    else:
        z = y * 0.0
    return z
