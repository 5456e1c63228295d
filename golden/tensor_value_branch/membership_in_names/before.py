import torch


@torch.compile
def f(x: torch.Tensor, a: float, b: float) -> torch.Tensor:
    if x.sum() in (a, b):
        y = x * 2.0
    else:
        y = x + 1.0
    return y
