import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.float()
    return y[y == y].max() + y[y > -100].amin()
