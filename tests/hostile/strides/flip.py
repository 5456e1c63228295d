import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        y = x + x
    else:
        y = x.flip(0)
    return y


def inputs():
    return [(torch.ones(2, 3).t(),), (-torch.ones(2, 3).t(),)]
