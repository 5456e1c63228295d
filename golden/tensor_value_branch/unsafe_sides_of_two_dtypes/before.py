import torch


@torch.compile
def f(x, y):
    if x.sum() > 0:
        z = x + 1
    else:
        z = y + 1
    return z
