import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, c: Tensor):
    if c.sum() > 0:
        y = x + (x.imag > 0).sum()
    else:
        y = x + (x > 0).sum()
    return y


def inputs():
    return [(torch.tensor([1.0]), torch.tensor([-1.0]))]
