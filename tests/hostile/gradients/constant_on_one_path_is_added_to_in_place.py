import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, flag: bool):
    a = x + x
    if flag:
        a = torch.zeros_like(x)
    b = x + x
    if x.sum() > 0:
        a = a + b
    return a


def inputs():
    return [(torch.tensor(row, requires_grad=True), True) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
