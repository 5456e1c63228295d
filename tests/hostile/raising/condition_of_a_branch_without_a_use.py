import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, w: Tensor):
    t = w + 1.0
    if x.amax() != x.sum():
        t = t + 2.0
    return x


def inputs():
    return [(torch.zeros(0), torch.tensor([1.0]))]
