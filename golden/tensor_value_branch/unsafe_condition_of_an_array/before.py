import torch


@torch.compile
def f(x):
    if x.sum() > 0:
        z = x * 2.0
    else:
        z = x + 1.0
    return z
