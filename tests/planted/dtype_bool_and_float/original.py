import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x > 0
    else:
        return x * 2
