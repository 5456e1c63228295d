import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = torch.ones_like(x)
    for i in range(2):
        if x.sum() != 0:
            a = a + a
        else:
            a = x + x
    return a


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
