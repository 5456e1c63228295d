import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    c = torch.zeros_like(x)
    c[0] = 1.0
    d = torch.ones_like(x)
    d.copy_(x)
    if x.sum() > 0:
        y = c + c
    else:
        y = d + d
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
