import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, y: Tensor):
    if (x == y).all():
        z = x + 1.0
    else:
        z = x + 2.0
    return z


def inputs():
    return [(torch.tensor(row, requires_grad=True), torch.ones(4)) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
