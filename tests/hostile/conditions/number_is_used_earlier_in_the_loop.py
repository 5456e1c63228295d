import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    s = 0.0
    z = x
    for i in range(2):
        z = z + s
        s = x.sum().item()
        if s > 0:
            z = z + 1.0
        else:
            z = z + 2.0
    return z


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
