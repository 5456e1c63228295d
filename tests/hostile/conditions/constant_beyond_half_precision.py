import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    h = x.half() * 1.0
    if h.max().item() > 2049:
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [(torch.tensor([2048.0]),), (torch.tensor([2050.0]),)]
