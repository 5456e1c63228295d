import torch
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor):
    x = x.float() * 1.0
    if x.sum() > 0:
        y = x.float_power(2.0)
    else:
        y = x * 2.0
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
