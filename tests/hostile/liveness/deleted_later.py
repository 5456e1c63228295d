import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    y = x
    if x.sum() > 0:
        y = x + 1.0
    else:
        y = x + 2.0
    del y
    return x


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
