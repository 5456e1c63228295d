import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, flag: bool):
    a = torch.zeros_like(x) if flag else x + x; b = x + x if flag else torch.zeros_like(x)  # fmt: skip
    if x.sum() > 0:
        y = a + a
    else:
        y = b + b
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), True) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
