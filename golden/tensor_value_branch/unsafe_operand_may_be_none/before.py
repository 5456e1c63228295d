import torch


@torch.compile
def f(x, bias=None):
    if x.sum() > 0:
        z = x * 2.0
    else:
        z = x + bias
    return z
