import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, m):
    if x.sum() > 0:
        y = x + (torch.zeros_like(m).sum() != 0)
    else:
        y = x + (x.sum() != 0)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True), 3.0) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
