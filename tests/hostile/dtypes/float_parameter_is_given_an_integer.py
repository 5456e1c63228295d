import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, s: float):
    if x.sum() > 0:
        y = x + s
    else:
        y = x + 1.5
    return y


def inputs():
    return [(torch.tensor([1, 2]), 2)]
