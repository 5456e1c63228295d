import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    b = torch.zeros_like(x)
    c = x.detach()
    b[0] = 1.0
    if x.sum() > 0:
        y = c + b
    else:
        y = x + x
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
