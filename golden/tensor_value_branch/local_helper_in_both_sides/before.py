import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x.float()
    if x.sum() > 0:
        part = z * 2.0
        y = part + part.sum()
    else:
        part = z + 1.0
        y = part - part.sum()
    return y
