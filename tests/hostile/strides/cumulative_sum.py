import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        y = x.cumsum(0)
    else:
        y = x.cumsum(0) + x.cumsum(0)
    z = x.neg()
    return y


def inputs():
    return [(torch.ones(2, 3).t(),), (-torch.ones(2, 3).t(),)]
