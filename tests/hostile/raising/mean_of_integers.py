import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.any():
        y = x + (x.mean() != 0)
    else:
        y = x + (x.sum() != 0)
    return y


def inputs():
    return [(torch.tensor([0, 0]),), (torch.tensor([0.0, 1.0]),)]
