import torch


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag and not (x > 0).all():
        y = x * 2.0
    else:
        y = x + 1.0
    return y
