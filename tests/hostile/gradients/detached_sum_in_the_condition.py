import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    a = (x + 0.5).detach()
    b = a + a
    if float(b.sum()) > 0.1:
        y = a + b
    else:
        y = x + 0.5
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([0.0, 2.0, 3.0], [-1.0, -2.0, -0.0])]
