import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, d: int):
    if x.sum() != 0:
        d = d + 1
        y = x.sum(d) != 0
    else:
        y = x.sum(d) != 1
    return y


def inputs():
    return [(torch.ones(2, 3), 0), (torch.zeros(2, 3), 0)]
