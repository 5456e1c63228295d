import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = x * 2 + torch.rand(x.shape)
    else:
        y = x * 2 + 1
    return y
