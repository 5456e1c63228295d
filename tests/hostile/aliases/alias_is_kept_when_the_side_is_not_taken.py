import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = x * 2.0
    b = a
    if x.sum() > 0:
        b = b + 1.0
    return a, b


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
