import torch


@torch.compile
def f(x, y):
    if x.sum() > 0:
        z = x
    else:
        z = y
    return z
