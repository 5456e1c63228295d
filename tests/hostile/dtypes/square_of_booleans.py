import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.any():
        y = x.square()
    else:
        y = x.clone()
    return y


def inputs():
    return [(torch.tensor([True, False]),), (torch.tensor([False, False]),)]
