import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    low = x.sum() < 0
    zero = (x != 2).any()
    if not low and zero:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
