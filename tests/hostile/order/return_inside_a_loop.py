import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    for i in range(3):
        if x.sum() > 0:
            return x + 1.0
        return x + 2.0
    return x


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
