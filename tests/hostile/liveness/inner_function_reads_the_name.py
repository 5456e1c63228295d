import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    t = x

    def g():
        return t

    if x.sum() > 0:
        t = x + 1.0
        y = t + 1.0
    else:
        y = x + 2.0
    return y, g()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
