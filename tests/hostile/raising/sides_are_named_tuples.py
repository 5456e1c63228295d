import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    x = x * 1.0
    with torch.no_grad():
        if x.sum() > 0:
            y = x.max(0)
        else:
            y = (x * 2.0).max(0)
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
