import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    if x.sum() > 0:
        a, b, c = b, c, a
    return a * 5.0 + b * 7.0 + c
