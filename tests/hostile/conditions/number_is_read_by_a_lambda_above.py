import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    g = lambda: s
    s = x.sum().item()
    if s > 0:
        y = x + 1.0
    else:
        y = x + 2.0
    return y, g()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
