import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, n: int):
    if x.sum() > 0:
        n = n + 1
        y = x + torch.zeros(n, 3).sum()
        z = torch.zeros(n, 3)
    else:
        y = x + 1.0
        z = torch.zeros(n, 3)
    return y, z


def inputs():
    return [(torch.tensor(row, requires_grad=True), 2) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
