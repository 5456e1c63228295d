import torch


@torch.compile
def f(x, y):
    if x.sum() > 0:
        z = x + y
    else:
        z = x * 2
    return z
