import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    c = x.sum() > 0
    if c:
        y = x + 1.0
    else:
        y = x + 2.0
    c.logical_not_()
    return y


def main(x):
    y = f(x)
    y.sum().backward()
    return y.detach()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
