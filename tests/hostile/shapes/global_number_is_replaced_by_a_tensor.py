import torch
from torch import Tensor


K = 3


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        y = x + K
    else:
        y = x + 1
    return y


def main(x):
    global K
    K = torch.ones(2, 3)
    return f(x)


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
