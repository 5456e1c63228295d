import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    s = x.sum().item(); print(s)  # fmt: skip
    if s > 0:
        y = x + 1.0
    else:
        y = x + 2.0
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
