import torch


@torch.compile
def f(x: torch.Tensor):
    y = x * 0.5
    return (torch.where(x.sum() > 0, x * 2.0, x * 3.0), y, None, 3)
