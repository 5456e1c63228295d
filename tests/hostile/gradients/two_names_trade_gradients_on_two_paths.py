import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, flag: bool):
    if flag:
        a = torch.zeros_like(x)
        b = x + x
    else:
        a = x + x
        b = torch.zeros_like(x)
    if x.sum() > 0:
        y = a + a
    else:
        y = b + b
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), True) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
