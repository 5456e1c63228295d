import torch


@torch.compile
def f(x: torch.Tensor):
    y = x * 0.5
    if x.sum() > 0:
        return (x * 2.0, y, None, 3)
    return (x * 3.0, y, None, 3)
