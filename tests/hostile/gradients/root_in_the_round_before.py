import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    x = x.float() + 0.0
    a = x
    for i in range(2):
        if x.sum() > 0:
            y = x + x
        else:
            y = a + a
        a = x.sqrt()
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([0.0, 2.0, 3.0], [-1.0, -2.0, -0.0])]
