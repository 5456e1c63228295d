import torch


@torch.compile
def f(x, y):
    z = torch.where(x.sum() > 0, x + 1, y + 1)
    return z
