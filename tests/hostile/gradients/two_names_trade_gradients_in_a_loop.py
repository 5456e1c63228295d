import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = torch.zeros_like(x)
    b = x + x
    for _ in range(1):
        a, b = b, a
    if x.sum() > 0:
        y = a + a
    else:
        y = b + b
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
