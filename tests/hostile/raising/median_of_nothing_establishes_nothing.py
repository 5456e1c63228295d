import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    s = x.median()
    if x.sum() != 0:
        y = x + (x.argmax() != 0)
    else:
        y = x + (x.sum() != 0)
    return y, s


def inputs():
    return [(torch.zeros(0),)]
