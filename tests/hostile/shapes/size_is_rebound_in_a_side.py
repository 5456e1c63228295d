import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, n: int):
    if x.sum() > 0:
        n = n + 1
        y = torch.zeros(n)
    else:
        y = torch.ones(n)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), 2) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
