import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    a = x * 2.0
    b = x * 3.0
    if x.sum() > 0:
        t = a
        a = b
        b = t
    return a * 5.0 + b
