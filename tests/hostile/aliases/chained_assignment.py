import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        y = z = x + 1.0
    else:
        y = z = x + 2.0
    z.add_(1.0)
    return y, z


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
