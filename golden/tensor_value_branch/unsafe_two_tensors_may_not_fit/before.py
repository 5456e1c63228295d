import torch


@torch.compile
def f(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x + z
    else:
        y = x - 1.0
    return y
