import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag or x.sum() > 0:
        return x * 2.0
    y = x + 1.0
    return y * 3.0
