import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, c: Tensor):
    if c.any():
        y = x.abs() * 1.0
    else:
        y = x * 1.0
    return y


def inputs():
    return [(torch.tensor([1j]), torch.tensor([True])), (torch.tensor([1j]), torch.tensor([False]))]
