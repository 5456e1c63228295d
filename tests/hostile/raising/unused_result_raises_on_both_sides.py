import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    if x.sum() > 0:
        t = x.unsqueeze(7)
        y = x + 1.0
    else:
        t = x.unsqueeze(7)
        y = x + 3.0
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
