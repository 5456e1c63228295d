import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, s: Tensor):
    s = s.sum()
    if x.any():
        y = x + s
    else:
        y = s + x
    return y


def inputs():
    return [(torch.tensor([1, 0]), torch.tensor([1.0])), (torch.tensor([0, 0]), torch.tensor([1.0]))]
