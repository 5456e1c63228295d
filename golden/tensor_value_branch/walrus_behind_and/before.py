import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    m = x.sum() * 0.0
    if x.sum() > 0 and (m := x.mean()):
        y = x * 2.0
    else:
        y = x + 1.0
    return y + m
