import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    w = torch.zeros(3, requires_grad=True)
    if x.sum() > 0:
        w += w
    return w


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
