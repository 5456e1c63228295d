import torch
from torch import Tensor


@torch.compile
def f(x: Tensor):
    x0 = x
    y = x
    n = 3
    while (m := x + 2.0) is not None and n > 0:
        n = n - 1
        if x0.sum() > 0:
            y = m + 1.0
        else:
            y = x0 + 1.0
        x = x[None]
    return y


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
