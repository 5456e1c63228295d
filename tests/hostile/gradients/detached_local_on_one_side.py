import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = x.detach()
    if x.sum() > 0:
        y = a + a
    else:
        y = x + x
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([0.0, 2.0, 3.0], [-1.0, -2.0, -0.0])]
