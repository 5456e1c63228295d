import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = (x + 0.5).detach()
    if a.sum() > 0:
        y = torch.where(a > 0, a, a)
    else:
        y = x + 0.5
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([0.0, 2.0, 3.0], [-1.0, -2.0, -0.0])]
