import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, l: list):
    if x.any() and len(l) > 0:
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [(torch.tensor([0.0]), None)]
