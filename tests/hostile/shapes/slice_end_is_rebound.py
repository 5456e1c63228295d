import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, n: int):
    if x.sum() > 0:
        n = n + 1
        y = x[:n] + 1.0
    else:
        y = x[:n] + 2.0
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), 1) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
