import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, c: Tensor):
    x = x * 1.0
    if c.sum() > 0:
        y = x.norm()
    else:
        y = x.sum()
    return y


def inputs():
    return [(torch.tensor([1j, 2.0]), torch.tensor([1.0]))]
