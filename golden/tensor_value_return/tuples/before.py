import torch


@torch.compile
def f(x: torch.Tensor):
    if x.sum() > 0:
        return x * 2.0, x + 1.0
    return x * 3.0, x + 2.0
