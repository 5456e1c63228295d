import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    h = x.half() * 1.0
    mask = h > 1
    if mask.any():
        h = h.masked_fill(mask, -1e9)
    return h


def inputs():
    return [(torch.tensor([0.0, 0.0]),)]
