import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, i: int):
    if x[i] > 0:
        i = i + 1
        y = x + (x[i] > 0)
    else:
        y = x + (x[i] > 1)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), 2) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
