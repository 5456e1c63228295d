import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x > 0
    else:
        y = x.float()
    return y * 2.0
