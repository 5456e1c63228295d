import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    x = x.float() * 1.0
    if x.sum() > 0:
        y = x.relu()
    else:
        y = x + 1.0
    y += 1.0
    return y


def main(x):
    y = f(x)
    y.sum().backward()
    return y.detach()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
