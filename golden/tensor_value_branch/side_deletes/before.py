import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x * 3.0
    if x.sum() > 0:
        del z
        y = x * 2.0
    else:
        y = x + 1.0
    return y
