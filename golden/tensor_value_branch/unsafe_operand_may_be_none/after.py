import torch


@torch.compile
def f(x, bias=None):
    z = torch.where(x.sum() > 0, x * 2.0, x + bias)
    return z
