import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = x * 2.0
    b = x + 1.0
    if x.sum() > 0:
        y = torch.einsum("ij->ji", a)
    else:
        y = torch.einsum("ij->ji", b)
    y.add_(1.0)
    return a, b, y


def inputs():
    return [(torch.ones(2, 2),), (-torch.ones(2, 2),)]
