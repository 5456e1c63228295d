import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, n: int):
    if x.sum() > 0:
        y = x + torch.zeros(n).sum()
    else:
        y = x + torch.ones(3).sum()
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), -1) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
