import torch


@torch.no_grad()
@torch.compile
def f(x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = z * 2.0
    return y
