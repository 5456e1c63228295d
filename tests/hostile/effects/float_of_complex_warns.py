import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, c: Tensor):
    if c.any():
        y = c + (x.float() != 0).any()
    else:
        y = c + (x.sum() != 0)
    return y


def inputs():
    return [(torch.tensor([1j]), torch.tensor([False]))]
