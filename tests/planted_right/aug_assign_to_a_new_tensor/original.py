import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if x.sum() > 0:
        y += 1
    else:
        y -= 1
    return y
