import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if x.sum() > 0 and flag and torch.isfinite(x).all():
        y = x * 2.0
    else:
        y = x + 1.0
    return y
